import { mkdirSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { isCoded, KernelError } from '../../kernel/index.ts';
import { Gateway } from '../gateway/contract.ts';
import { isSecretRef, type SecretInput, type SecretRef } from '../secrets/contract.ts';
import { type Client, connect } from './client.ts';
import type { Booted, CommandHost, Holder, Lock } from './contract.ts';

/** A connection, and the gateway of this very process where there was no other. */
export interface Reached {
  readonly client: Client;
  readonly own: Booted | undefined;
  /** Disconnects; an own gateway first lets everybody's turns finish. */
  readonly leave: () => Promise<void>;
}

/** The commands' host, as far as `ask` needs it, which it offers. */
type Asker = Omit<CommandHost, 'ask'>;

const patienceMs = 30_000;

/**
 * Connects to the gateway that holds the state folder, or becomes it. Between two tries the holder may leave, die or
 * come: only the lock decides, and a refusal is no answer while the lock may change hands.
 */
export async function reach(host: Asker): Promise<Reached> {
  const deadline = Date.now() + patienceMs;
  let refusal: Error | undefined;
  for (;;) {
    using changed = change(host.home);
    try {
      const found = await findGateway(host);
      if (found) return { client: found.client, own: undefined, leave: async () => found.client.close() };
    } catch (error) {
      if (!isCoded(error) || error.code !== 'CLI_REFUSED') throw error;
      refusal = error as KernelError;
    }
    const lock = await host.takeLock(host.home, 'command');
    if (lock) return await bring(host, lock);
    if (Date.now() > deadline) throw refusal ?? busy(host.home, await host.readHolder(host.home));
    await changed.settled;
  }
}

/** A gateway that is running already; undefined where none is. Starts nothing. */
export async function findGateway(host: Asker): Promise<{ readonly client: Client; readonly holder: Holder } | undefined> {
  const holder = await host.readHolder(host.home);
  if (typeof holder?.url !== 'string' || !isAlive(holder.pid)) return undefined;
  return { client: await connect(holder.url, await tokenOf(host)), holder };
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM'; // alive, and another user's
  }
}

async function bring(host: Asker, lock: Lock): Promise<Reached> {
  const { version, home, env, configFile } = host;
  const own = await host.boot({ version, home, env, configFile, lock, flags: { port: '0' } });
  for (const notice of own.notices) console.error(`instar: ${notice}`);
  try {
    const { url, token } = await own.run((run) => run.get(Gateway));
    const client = await connect(url, token);
    const leave = async () => {
      await othersDone(client).catch(() => {}); // the connection is lost: then nobody else's stands either
      await own.stop('the command is done');
      client.close();
    };
    return { client, own, leave };
  } catch (cause) {
    await own.stop('the command cannot reach it');
    throw cause;
  }
}

/** Those that came to us with a turn would lose it: what is at work now may finish. */
async function othersDone(client: Client) {
  let woken = Promise.withResolvers<void>();
  client.listen(({ type }) => type === 'agent_end' && woken.resolve());
  client.lost.addEventListener('abort', () => woken.resolve());
  await client.call('events.watch', {});
  const active = async () => (await client.call<{ active: readonly { itemId: string }[] }>('status')).active;
  const mine = new Set((await active()).map(({ itemId }) => itemId));
  while (!client.lost.aborted && (await active()).some(({ itemId }) => mine.has(itemId))) {
    await Promise.race([woken.promise, pause(1000, undefined, { ref: false })]);
    woken = Promise.withResolvers<void>();
  }
}

/** As the gateway finds it: config, environment, else the one that was made at its first start. */
async function tokenOf(host: Asker): Promise<string> {
  const { home, env, configFile, readConfig } = host;
  const { values } = await readConfig(configFile, env).catch(() => ({ values: {} })); // it may run on an older text
  const { auth } = ((values as { gateway?: object }).gateway ?? {}) as { auth?: { token?: SecretInput } };
  if (isSecretRef(auth?.token)) return referred(auth.token, host);
  const given = auth?.token || env.INSTAR_GATEWAY_TOKEN || env.OPENCLAW_GATEWAY_TOKEN;
  if (given) return given;
  try {
    return readFileSync(join(home, 'token'), 'utf8').trim();
  } catch (cause) {
    const message = `no token: ${join(home, 'token')} cannot be read; set gateway.auth.token or INSTAR_GATEWAY_TOKEN`;
    throw new KernelError('CLI_NO_TOKEN', message, { cause });
  }
}

/** By the command of the plugin that resolves references: it needs no gateway. */
async function referred(ref: SecretRef, host: Asker): Promise<string> {
  const command = host.commands.get('secrets');
  if (!command)
    throw new KernelError('CLI_NO_TOKEN', 'gateway.auth.token refers to a secret, and plugin "secrets" is not here to resolve it');
  const { secretFor } = (await import(pathToFileURL(command.module).href)) as {
    readonly secretFor: (ref: SecretRef, path: string, host: Asker) => Promise<string>;
  };
  return secretFor(ref, 'gateway.auth.token', host);
}

/** Settles when something happens in the state folder; a lock that a killed process lost makes no event, hence the timer. */
export function change(home: string) {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const { promise, resolve } = Promise.withResolvers<void>();
  const watcher = watch(home, (_, name) => name === 'gateway.json' && resolve());
  watcher.on('error', () => resolve());
  const timer = setTimeout(resolve, 250);
  const stop = () => {
    clearTimeout(timer);
    watcher.close();
  };
  return { settled: promise, [Symbol.dispose]: stop };
}

function busy(home: string, holder: Holder | undefined): KernelError {
  const who = holder ? `process ${holder.pid}, which announced no address yet` : 'another process';
  return new KernelError('CLI_BUSY', `${home} is held by ${who}; wait for it, or end it and try again`);
}

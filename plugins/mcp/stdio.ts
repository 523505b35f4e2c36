import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { type EnterRun, Host, KernelError } from '../../kernel/index.ts';
import { secretOf } from '../secrets/contract.ts';
import { type Ended, type Job, type Running, Spawn } from '../tools-exec/contract.ts';
import { lineReader } from './line-reader.ts';
import { programAt } from './program.ts';
import { maxMessageBytes } from './protocol.ts';
import type { ServerSettings } from './settings.ts';

const maxLogBytes = 1_000_000;
const trimMs = 1000;

/** Starts the server through the spawn service: own group, scrubbed environment; what it says on stderr goes to a file. */
export function connectStdio(name: string, settings: ServerSettings, enter: EnterRun) {
  return (signal: AbortSignal): Promise<Transport> =>
    enter(async (run) => {
      const spawn = run.find(Spawn);
      if (!spawn) throw new KernelError('MCP_LAUNCH', 'plugin "tools-exec", which starts programs, is not live');
      const host = run.get(Host);
      const given = Object.entries(settings.env ?? {}).map(
        async ([key, value]) => [key, (await secretOf(run, value, `mcp.servers.${name}.env.${key}`)) ?? ''] as const,
      );
      const env = { ...spawn.env(run), ...Object.fromEntries(await Promise.all(given)) };
      const cwd = settings.cwd ?? host.home;
      const program = await programAt(settings.command ?? '', cwd, env['PATH'] ?? '');
      const log = await logOf(host.home, name);
      const start = async (onOutput: Job['onOutput']): Promise<Running> => {
        const job = {
          stages: [{ argv: [program, ...(settings.args ?? [])], redirections: [{ fd: 2, file: 0 } as const] }],
          files: [log.fd],
          cwd,
          env,
          signal,
          input: true,
          onOutput,
        };
        try {
          return kept(await spawn.start(job, run), log);
        } catch (cause) {
          await log.close();
          throw cause;
        }
      };
      return lineTransport(await startedBefore(start), join(host.home, 'logs', `mcp-${name}.log`));
    });
}

interface Started {
  readonly running: Running;
  /** Whatever comes, from the first byte. */
  listen(on: (chunk: Buffer) => void): void;
}

async function startedBefore(start: (onOutput: (chunk: Buffer) => void) => Promise<Running>): Promise<Started> {
  const early: Buffer[] = [];
  let on: (chunk: Buffer) => void = (chunk) => void early.push(chunk);
  const running = await start((chunk) => on(chunk));
  return {
    running,
    listen(then) {
      on = then;
      for (const chunk of early.splice(0)) then(chunk);
    },
  };
}

/** JSON-RPC in lines over a program's input and output. Lines that are none are passed over: programs greet people, too. */
function lineTransport(started: Started, logFile: string): Transport {
  const { running } = started;
  let [isDone, saidNothing] = [false, true];
  const onLine = (line: string) => {
    const message = messageIn(line);
    if (!message) return;
    saidNothing = false;
    transport.onmessage?.(message);
  };
  const transport: Transport = {
    async start() {
      started.listen(lineReader(maxMessageBytes, onLine, () => running.kill()));
      void running.ended.then((ended) => {
        if (isDone) return;
        isDone = true;
        transport.onerror?.(new KernelError('MCP_LAUNCH', endOf(ended, saidNothing, logFile)));
        transport.onclose?.();
      });
    },
    async send(message) {
      if (!isDone && running.write(`${JSON.stringify(message)}\n`)) return;
      throw new KernelError('MCP_LAUNCH', endOf(await running.ended, saidNothing, logFile));
    },
    /** The end of its input is its sign to leave; who does not is killed. */
    async close() {
      if (isDone) return;
      isDone = true;
      running.close();
      const late = setTimeout(() => running.kill(), 1000);
      await running.ended;
      clearTimeout(late);
      transport.onclose?.();
    },
  };
  return transport;
}

function messageIn(line: string): JSONRPCMessage | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const message = JSON.parse(line) as JSONRPCMessage;
    return message.jsonrpc === '2.0' ? message : undefined;
  } catch {
    return undefined; // words of the program, not of the protocol
  }
}

const endOf = ({ exitCode, why }: Ended, saidNothing: boolean, logFile: string) =>
  `its program ended${exitCode === undefined ? ` (${why})` : ` with exit code ${exitCode}`}${saidNothing ? ' without a word of MCP' : ''}; what it said is in ${logFile}`;

async function logOf(home: string, name: string): Promise<FileHandle> {
  const folder = join(home, 'logs');
  await mkdir(folder, { recursive: true });
  const log = await open(join(folder, `mcp-${name}.log`), 'a', 0o600);
  await trim(log);
  return log;
}

/** Grows to a megabyte and begins anew, while the program runs too. */
async function trim(log: FileHandle) {
  if ((await log.stat()).size > maxLogBytes) await log.truncate(0);
}

function kept(running: Running, log: FileHandle): Running {
  const timer = setInterval(() => void trim(log).catch(() => {}), trimMs); // tried again
  timer.unref();
  const end = async () => {
    await running.ended;
    clearInterval(timer);
    await log.close();
  };
  void end();
  return running;
}

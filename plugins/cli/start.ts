import { flushCompileCache } from 'node:module';
import { parseArgs } from 'node:util';
import { Host, type ReportLine, type Run, StartReport } from '../../kernel/index.ts';
import { exitCodes, type Booted, type CommandHost, type Lock, type RunCommand, type Surroundings } from './contract.ts';
import { errorLine } from './exit.ts';
import { change } from './reach.ts';
import { bold, columns } from './contract/terminal.ts';

const goodAfterMs = 3000;
const patienceMs = 60_000;

/** `instar start`: the gateway, until it is told to stop. Says nothing before it is ready, but errors. */
export const run: RunCommand = async (argv, host) => {
  const { values } = parseArgs({ args: [...argv], options: { port: { type: 'string' }, watch: { type: 'boolean' } } });
  const { version, home, env, configFile } = host;
  const lock = await waitForLock(host);
  if (!lock) {
    console.error(errorLine({ code: 'LOCKED', message: await whoHolds(host) }));
    return exitCodes.locked;
  }
  const show = (line: string) => console.error(line);
  const gateway = await host.boot({
    version,
    home,
    env,
    configFile,
    lock,
    goodAfterMs,
    show,
    flags: { port: values.port, watch: values.watch ? 'yes' : undefined },
  });
  stopOnSignals(gateway);
  for (const notice of gateway.notices) console.error(`instar: ${notice}`);
  console.log(await gateway.run((entered) => block(host, entered)));
  flushCompileCache(); // for the commands that start meanwhile; and a gateway may be killed
  return gateway.stopped;
};

/** A command that brought its own gateway leaves by itself: wait for that. */
async function waitForLock({ home, takeLock, readHolder }: CommandHost): Promise<Lock | undefined> {
  const deadline = Date.now() + patienceMs;
  for (let told = false; ; told = true) {
    using changed = change(home);
    const lock = await takeLock(home, 'gateway');
    if (lock) return lock;
    const holder = await readHolder(home);
    if (holder?.mode !== 'command' || Date.now() > deadline) return undefined;
    if (!told) console.error(`waiting for a command that uses ${home} (pid ${holder.pid})`);
    await changed.settled;
  }
}

async function whoHolds({ home, readHolder }: CommandHost): Promise<string> {
  const holder = await readHolder(home);
  if (!holder) return `another process is starting on ${home}; wait for it, or set INSTAR_HOME to another folder`;
  const { pid, mode, url, started } = holder;
  const end = mode === 'command' ? 'it leaves by itself' : 'end it with "instar stop", or set INSTAR_HOME to another folder';
  return `${home} is in use by a ${mode}${typeof url === 'string' ? ` at ${url}` : ''} (pid ${pid}, since ${started}); ${end}`;
}

async function block({ version, configFile }: Surroundings, entered: Run): Promise<string> {
  const { instances, leftOut } = entered.get(Host).inspect();
  const missing = leftOut.length ? `; left out: ${leftOut.map(({ plugin, code }) => `${plugin} (${code})`).join(', ')}` : '';
  const lines: readonly ReportLine[] = [
    ...(await entered.call(StartReport, [])),
    { label: 'plugins', value: `${instances.length}${missing}` },
    { label: 'config', value: configFile ?? 'none' },
    { label: 'stop', value: 'Ctrl-C' },
  ];
  return `${bold(`Instar ${version}`)} is ready (${process.uptime().toFixed(1)} s)\n${columns(lines)}`;
}

/** The first waits for what runs, the second ends it, the third does not wait for that either. */
function stopOnSignals({ stop, abort }: Booted) {
  let asked = 0;
  let last = -Infinity;
  const onSignal = (signal: NodeJS.Signals) => {
    if (performance.now() - last < 300) return; // npm passes on a Ctrl-C that the terminal sent us already
    last = performance.now();
    asked++;
    if (asked === 1) {
      console.error('stopping: waiting for what runs; once more to force it');
      void stop(signal);
    } else if (asked === 2) {
      abort(`forced by ${signal}`);
      setTimeout(() => process.exit(exitCodes.interrupted), 2000).unref();
    } else process.exit(exitCodes.interrupted);
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
}

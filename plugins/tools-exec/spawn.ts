import { type ChildProcess, spawn } from 'node:child_process';
import { type EventEmitter, once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { KernelError, messageOf } from '../../kernel/index.ts';
import type { Ended, Job, Running, Stage } from './contract.ts';

/** From SIGTERM to SIGKILL. */
const graceMs = 2_000;
/** How long the output may stay open once the command itself has ended: longer, and something is left behind. */
const leftoverMs = 1_000;
/** The first descriptor of the caller's files; sh knows those of one digit. */
const firstFile = 5;
export const maxFiles = 5;

/**
 * Supervises programs inside their own process group. Descriptor 3 is held open by this process alone: when the
 * gateway dies, even by SIGKILL, the watcher reads its end and kills the group. The output goes through a real pipe
 * (Node's are sockets, which `> /dev/stderr` cannot open). The exit code comes on descriptor 4, then `done` once the
 * watcher is reaped; the supervisor waits to be killed with what is left, so that the group's number stays taken. Told to
 * end before the programs began, it begins none.
 */
const supervisor = (programs: string) => `
instar_gone=
trap instar_gone=1 HUP INT TERM
(trap '' HUP INT TERM; read -r _ <&3; kill -KILL 0) >/dev/null 4>&- &
watcher=$!
{ trap instar_gone=1 HUP INT TERM; if [ "$instar_gone" ]; then (exit 143); else (${programs}) 2>&1; fi; echo $? >&4; } | (trap '' HUP INT TERM; exec cat 3<&- 4>&-)
kill -KILL $watcher; wait $watcher
echo done >&4
read -r _ <&3
kill -KILL 0`;

/** `(exec "${1}" "${2}") | (exec "${3}" 2>&1)`: made of numbers alone. What is executed comes as arguments, which sh never reads. */
function programsOf(stages: readonly Stage[], files: number): string {
  let next = 1;
  const close = Array.from({ length: files }, (_, i) => ` ${firstFile + i}>&-`).join('');
  const program = ({ argv, redirections = [] }: Stage) => {
    const words = argv.map(() => `"\${${next++}}"`).join(' ');
    const wires = redirections.map((wire) => ` ${wire.fd}>&${'same' in wire ? wire.same : firstFile + wire.file}`).join('');
    return `(exec${wires} 3>&- 4>&-${close}; exec ${words})`;
  };
  return stages.map(program).join(' | ');
}

/** The only place that starts a process. Kills the whole group on abort, timeout and `kill`. */
export async function startGroup(job: Job): Promise<Running> {
  job.signal.throwIfAborted();
  const { stages, cwd, env, input = false, files = [] } = job;
  if (files.length > maxFiles)
    throw new KernelError('SPAWN_FAILED', `more than ${maxFiles} redirections to files in one pipeline; use fewer`);
  const child = spawn('/bin/sh', ['-c', supervisor(programsOf(stages, files.length)), 'sh', ...stages.flatMap(({ argv }) => argv)], {
    cwd,
    env,
    detached: true,
    stdio: [input ? 'pipe' : 'ignore', 'pipe', 'ignore', 'pipe', 'pipe', ...files],
  });
  // Each may fail on its own when the group is killed; the exit tells what matters.
  for (const part of [child, ...child.stdio]) part?.on('error', () => {});
  await once(child, 'spawn').catch((cause: unknown) => {
    throw new KernelError('SPAWN_FAILED', `the command did not start in ${cwd}: ${messageOf(cause)}`, { cause });
  });
  return supervise(child, job);
}

function supervise(child: ChildProcess, job: Job): Running {
  const state: { -readonly [K in keyof Ended]: Ended[K] } = { exitCode: undefined, why: 'ended', leftovers: false };
  const undo = new DisposableStack();
  const group = groupOf(child, undo);
  const stop = (why: Ended['why']) => {
    if (state.why !== 'ended' || state.exitCode !== undefined) return;
    state.why = why;
    group.end();
  };
  if (job.timeoutMs !== undefined) group.later(job.timeoutMs, () => stop('timeout'));
  undo.use(onAbort(job.signal, () => stop('aborted')));
  const { stdin } = child;
  return {
    pid: child.pid,
    write: (data) => stdin !== null && stdin.writable && (stdin.write(data), true),
    close: () => void stdin?.end(),
    kill: () => stop('killed'),
    ended: settle(child, job, state, group).finally(() => undo.dispose()),
  };
}

async function settle(
  child: ChildProcess,
  job: Job,
  state: { -readonly [K in keyof Ended]: Ended[K] },
  { later, end, kill }: Group,
): Promise<Ended> {
  const [, output, , lifeline, status] = child.stdio as unknown as [null, Readable, null, Readable, Readable];
  output.on('data', (chunk: Buffer) => job.onOutput(chunk));
  onStatus(status, {
    code(exitCode) {
      state.exitCode = exitCode;
      later(leftoverMs, () => {
        state.leftovers = true;
        end();
      });
    },
    done: kill,
  });
  const [exited, drained] = [happening(child, 'exit'), happening(output, 'close')];
  await exited;
  lifeline.destroy();
  // By now only our `cat` can hold the output open: where a command killed all of ours but that, do not wait for ever.
  await Promise.race([drained, pause(graceMs, undefined, { ref: false })]);
  for (const stream of [output, status]) stream.destroy();
  child.stdin?.destroy();
  return state;
}

type Group = ReturnType<typeof groupOf>;

/** Ours in the group, the `cat` of the output too, stand a SIGTERM: what was written by then is still read. */
function groupOf(child: ChildProcess, undo: DisposableStack) {
  const later = (ms: number, work: () => void) => void undo.adopt(setTimeout(work, ms), clearTimeout);
  const kill = () => signalGroup(child, 'SIGKILL');
  const end = () => {
    signalGroup(child, 'SIGTERM');
    later(graceMs, kill);
  };
  return { later, kill, end };
}

/** Unlike `once` of node:events it does not reject on `error`, which here says nothing. */
const happening = (emitter: EventEmitter, event: string) => new Promise<void>((happened) => void emitter.once(event, () => happened()));

function onAbort(signal: AbortSignal, work: () => void): Disposable {
  signal.addEventListener('abort', work, { once: true });
  if (signal.aborted) work();
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', work) };
}

/** What the supervisor says on descriptor 4: the exit code once, then `done`. */
function onStatus(status: Readable, on: { code(exitCode: number): void; done(): void }) {
  let said = '';
  status.on('data', (chunk: Buffer) => {
    const known = said.includes('\n');
    said += chunk.toString('latin1');
    const first = /^(\d+)\n/.exec(said)?.[1];
    if (!known && first !== undefined) on.code(Number(first));
    if (said.includes('done')) on.done();
  });
}

/** The group's number cannot have been reused: its leader is not reaped before its end is seen here. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals) {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // the group is gone already
  }
}

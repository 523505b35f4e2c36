import { type ChildProcess, spawn } from 'node:child_process';
import { type EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { KernelError, messageOf } from '../../kernel/index.ts';

/** One command for a shell, and its limits. */
export interface Job {
  readonly script: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Standard output and error, as they came. */
  onOutput(chunk: Buffer): void;
}

export interface Ended {
  /** As the shell counts: 128 + n after signal n. Undefined where even the supervisor was killed. */
  readonly exitCode: number | undefined;
  readonly why: 'ended' | 'timeout' | 'aborted';
  /** Background processes that still held the output were killed. */
  readonly leftovers: boolean;
}

/** From SIGTERM to SIGKILL. */
const graceMs = 2_000;
/** How long the output may stay open once the command itself has ended: longer, and something is left behind. */
const leftoverMs = 1_000;

/**
 * Supervises the command inside its own process group. Descriptor 3 is held open by this process alone: when the
 * gateway dies, even by SIGKILL, the watcher reads its end and kills the group. The output goes through a real pipe
 * (Node's are sockets, which `> /dev/stderr` cannot open). The exit code comes on descriptor 4, then `done` once the
 * watcher is reaped; the supervisor waits to be killed with what is left, so that the group's number stays taken.
 */
const supervisor = `
trap : HUP INT TERM
(trap '' HUP INT TERM; read -r _ <&3; kill -KILL 0) >/dev/null 4>&- &
watcher=$!
{ trap : HUP INT TERM; (exec "$0" -c "$1" 2>&1 3<&- 4>&-); echo $? >&4; } | (trap '' HUP INT TERM; exec cat 3<&- 4>&-)
kill -KILL $watcher; wait $watcher
echo done >&4
read -r _ <&3
kill -KILL 0`;

/** The only place that starts a process. Settles once the whole group is gone; kills it on abort and on timeout. */
export async function runShell(job: Job): Promise<Ended> {
  job.signal.throwIfAborted();
  const child = spawn('/bin/sh', ['-c', supervisor, shellPath(), job.script], {
    cwd: job.cwd,
    env: job.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore', 'pipe', 'pipe'],
  });
  // Each may fail on its own when the group is killed; the exit tells what matters.
  for (const part of [child, ...child.stdio]) part?.on('error', () => {});
  await once(child, 'spawn').catch((cause: unknown) => {
    throw new KernelError('SPAWN_FAILED', `the shell did not start in ${job.cwd}: ${messageOf(cause)}`, { cause });
  });
  return supervise(child, job);
}

async function supervise(child: ChildProcess, job: Job): Promise<Ended> {
  const [, output, , lifeline, status] = child.stdio as [null, Readable, null, Readable, Readable];
  const ended: { -readonly [K in keyof Ended]: Ended[K] } = { exitCode: undefined, why: 'ended', leftovers: false };
  using undo = new DisposableStack();
  const { later, end, kill } = groupOf(child, undo);
  const stop = (why: Ended['why']) => {
    if (ended.why !== 'ended' || ended.exitCode !== undefined) return;
    ended.why = why;
    end();
  };
  later(job.timeoutMs, () => stop('timeout'));
  undo.use(onAbort(job.signal, () => stop('aborted')));
  output.on('data', (chunk: Buffer) => job.onOutput(chunk));
  onStatus(status, {
    code(exitCode) {
      ended.exitCode = exitCode;
      later(leftoverMs, () => {
        ended.leftovers = true;
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
  return ended;
}

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

const shellPath = () => ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'].find((path) => existsSync(path)) ?? '/bin/sh';

import { constants } from 'node:fs';
import { type FileHandle, mkdtemp, open, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { type EnterRun, isCoded, KernelError, messageOf, type Run } from '../../kernel/index.ts';
import { PathGuard } from '../tools-fs/contract.ts';
import { type Ended, type Job, type Running, Spawn, type Stage, type Wiring } from './contract.ts';
import { inodeOf } from './bindings.ts';
import type { Redirection } from './redirection.ts';
import type { PlannedStep } from './plan.ts';
import { changedSince, type Prints } from './prints.ts';

type Limits = Pick<Job, 'env' | 'signal' | 'timeoutMs' | 'onOutput'>;

/**
 * Executes a plan as a shell would execute its text, but with the programs that were judged and nothing else. Each step is started
 * in a run of `enter`: in the background the run that judged it has ended by then.
 */
export async function runPlan(steps: readonly PlannedStep[], workspace: string, limits: Limits, enter: EnterRun): Promise<Ended> {
  const deadline = limits.timeoutMs === undefined ? undefined : performance.now() + limits.timeoutMs;
  let last: Ended = { exitCode: 0, why: 'ended', leftovers: false };
  for (const step of steps) {
    if ((step.when === 'and' && last.exitCode !== 0) || (step.when === 'or' && last.exitCode === 0)) continue;
    const timeoutMs = deadline === undefined ? undefined : Math.max(1, deadline - performance.now());
    const ended = await runStep(step, workspace, { ...limits, ...(timeoutMs !== undefined && { timeoutMs }) }, enter);
    const exitCode = step.isNegated && ended.exitCode !== undefined ? Number(ended.exitCode === 0) : ended.exitCode;
    last = { ...ended, exitCode, leftovers: last.leftovers || ended.leftovers };
    if (ended.why !== 'ended') return last;
  }
  return last;
}

async function runStep(step: PlannedStep, workspace: string, limits: Limits, enter: EnterRun): Promise<Ended> {
  if (step.commands[0]?.folder) return { exitCode: 0, why: 'ended', leftovers: false };
  if ((await realpath(step.cwd)) !== step.cwd)
    throw new KernelError('EXEC_CHANGED', `${step.cwd} is not the folder that it was; call exec again`);
  await using files = new Files();
  const { ended } = await enter((run) => startStep(step, workspace, limits, files, run));
  return await ended;
}

async function startStep(step: PlannedStep, workspace: string, limits: Limits, files: Files, run: Run): Promise<Running> {
  const stages: Stage[] = [];
  for (const { argv, redirections } of step.commands) {
    const wires: Wiring[] = [];
    for (const one of redirections) {
      if (one.kind === 'same') wires.push({ fd: one.fd, same: one.same });
      else {
        const handle = await openFor(one, step.cwd, workspace, run);
        const file = files.add(handle, one.kind === 'file' && one.mode !== 'read');
        wires.push({ fd: one.kind === 'text' ? 0 : one.fd, file });
      }
    }
    stages.push({ argv, redirections: wires });
  }
  await unchanged(step.prints, files);
  const job: Job = { ...limits, stages, cwd: step.cwd, input: false, files: files.numbers };
  return run.get(Spawn).start(job, run);
}

/**
 * As late as we can: after the redirections are open, so that one that emptied a program is seen, and right before the start. A step
 * that came before, or a command in the background, may have changed what was judged.
 */
async function unchanged(prints: Prints, files: Files) {
  const written = await files.written();
  for (const file of prints.keys()) {
    const inode = written.size > 0 ? await inodeOf(file) : undefined;
    if (inode !== undefined && written.has(inode)) throw changed(file, 'would be written to while it runs');
  }
  const other = await changedSince(prints);
  if (other !== undefined) throw changed(other, 'was changed after the command was judged');
}

const changed = (file: string, how: string) =>
  new KernelError('EXEC_CHANGED', `${file} ${how}; neither it nor what follows was run. Call exec again`);

/** Open until the programs have ended. */
class Files implements AsyncDisposable {
  readonly #handles: FileHandle[] = [];
  readonly #written: FileHandle[] = [];
  add(handle: FileHandle, isWritten: boolean): number {
    if (isWritten) this.#written.push(handle);
    return this.#handles.push(handle) - 1;
  }
  /** By `dev:ino`: a file has many names. */
  async written(): Promise<ReadonlySet<string>> {
    const stats = await Promise.all(this.#written.map((handle) => handle.stat({ bigint: true })));
    return new Set(stats.map(({ dev, ino }) => `${dev}:${ino}`));
  }
  get numbers(): readonly number[] {
    return this.#handles.map(({ fd }) => fd);
  }
  async [Symbol.asyncDispose]() {
    await Promise.all(this.#handles.map((handle) => handle.close()));
  }
}

/** Through the path guard: a redirection reaches no file that the tools for files would not. */
async function openFor(one: Exclude<Redirection, { kind: 'same' }>, cwd: string, workspace: string, run: Run): Promise<FileHandle> {
  if (one.kind === 'text') return textFile(one.text);
  if (one.path === '/dev/null') return open('/dev/null', one.mode === 'read' ? 'r' : 'w');
  const guard = run.get(PathGuard);
  const path = join(relative(await realpath(workspace), cwd), one.path.startsWith('/') ? '' : one.path);
  const asked = one.path.startsWith('/') ? one.path : path;
  if (one.mode === 'read') {
    // Not disposed here: the programs read from it.
    const { handle, kind } = await guard.open(workspace, asked, run);
    if (kind === 'file') return handle;
    await handle.close();
    throw new KernelError('PATH_KIND', `"${one.path}" is a folder; name a file`);
  }
  await using spot = await guard.spot(workspace, asked, run);
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants;
  const flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | (one.mode === 'append' ? O_APPEND : 0);
  const handle = await open(spot.at(spot.entry), flags, 0o666).catch((cause: unknown) => {
    const why =
      isCoded(cause) && cause.code === 'EISDIR' ? 'is a folder; name a file' : `cannot be written (${messageOf(cause).split(':')[0]})`;
    throw new KernelError('PATH_UNUSABLE', `"${one.path}" ${why}`, { cause });
  });
  if ((await handle.stat()).isFile()) {
    if (one.mode === 'write') await handle.truncate(0);
    return handle;
  }
  await handle.close();
  throw new KernelError('PATH_SPECIAL', `"${one.path}" is no regular file; it cannot be written`);
}

/** A file without a name: gone with its last reader. */
async function textFile(text: string): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'instar-input-'));
  try {
    const handle = await open(join(folder, 'text'), 'wx+', 0o600);
    // At a position, so that the offset, which the program shares, stays at the beginning.
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at, bytes.length - at, at)).bytesWritten;
    return handle;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

import { existsSync } from 'node:fs';
import { mkdir, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type EnterRun, given, KernelError, type Run, text, type Tool, type ToolCall, type ToolResult } from '../../kernel/index.ts';
import { outsidePath } from '../sandbox/contract.ts';
import { PathGuard } from '../tools-fs/contract.ts';
import { Turn } from '../turns/contract.ts';
import { coalesced, type Ended, type Job, type Running, Spawn } from './contract.ts';
import { runPlan } from './execution.ts';
import type { Judged } from './judge.ts';
import { Output } from './output.ts';
import { changedSince } from './prints.ts';
import { type Background, maxRunning, type Processes } from './processes.ts';
import { type ExecArgs, folderOf } from './script.ts';

const updateMs = 100;
const updateChars = 4_000;
const usualSeconds = 120;
const backgroundSeconds = 1_800;

const parameters = {
  type: 'object',
  required: ['command'],
  additionalProperties: false,
  properties: {
    command: { type: 'string', minLength: 1, pattern: '^[^\\0]*$' },
    cwd: { type: 'string', minLength: 1, pattern: '^[^\\0]*$', description: 'Folder in the workspace' },
    timeoutSeconds: { type: 'number', exclusiveMinimum: 0, maximum: 3600, description: 'Default 120; in the background 1800' },
    background: { type: 'boolean', description: 'Return at once; go on with tool process' },
    yieldMs: { type: 'integer', minimum: 10, maximum: 120_000, description: 'Wait so long, then leave it in the background' },
    pty: { type: 'boolean', description: 'In a terminal, for what asks or draws' },
    env: {
      type: 'object',
      propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
      additionalProperties: { type: 'string', pattern: '^[^\\0]*$' },
    },
  },
} as const;

/** What was judged for exactly these arguments; undefined where nobody did. */
export type JudgedFor = (args: object) => Judged | undefined;

export function execTool(judgedFor: JudgedFor, processes: Processes, enter: EnterRun): Tool {
  return {
    name: 'exec',
    description:
      'Run a bash command in the workspace. Plain commands (pipes, && and || too) may run unasked, others have to be approved by a person. What it leaves running is stopped, unless it runs in the background.',
    section: 'Runtime',
    parameters,
    async execute(args: never, call: ToolCall) {
      const asked = args as ExecArgs;
      const { workspace } = call.run.get(Turn);
      await mkdir(workspace, { recursive: true });
      const cwd = await folderFor(workspace, asked, call.run);
      const judged = judgedFor(asked);
      if (!judged) throw new KernelError('EXEC_UNJUDGED', 'nobody judged this command; the call did not pass policy.decide');
      const changed = await changedSince(judged.bound);
      if (changed !== undefined)
        throw new KernelError('EXEC_CHANGED', `${changed} was changed after the command was judged; nothing was run. Call exec again`);
      return asked.background || asked.yieldMs !== undefined
        ? inBackground(asked, judged, cwd, call, processes, enter)
        : inForeground(asked, judged, call);
    },
  };
}

/** Real path of the folder to start in. */
export async function folderFor(workspace: string, { cwd }: Pick<ExecArgs, 'cwd'>, run: Run): Promise<string> {
  const folder = run.subject.sandboxed ? outsidePath(folderOf(cwd), workspace) : folderOf(cwd);
  // The workspace itself can be one that tools may not touch.
  const guard = folder === '.' ? run.find(PathGuard) : run.get(PathGuard);
  await using opened = await guard?.open(workspace, folder, run);
  if (opened && opened.kind !== 'folder') throw new KernelError('PATH_KIND', `cwd "${cwd}" is a file; name a folder`);
  return await realpath(resolve(workspace, folder));
}

async function inForeground(args: ExecArgs, judged: Judged, call: ToolCall): Promise<ToolResult> {
  const began = performance.now();
  const seconds = args.timeoutSeconds ?? usualSeconds;
  const output = new Output();
  using show = coalesced(updateMs, () => call.update(text(output.latest(updateChars))));
  const onOutput = (chunk: Buffer) => {
    output.push(chunk);
    show.soon();
  };
  const limits = { env: call.run.get(Spawn).env(call.run), timeoutMs: seconds * 1000, signal: call.signal, onOutput };
  const inCall: EnterRun = async (work) => work(call.run);
  const ended = await begin(args, judged, limits, call.run, inCall).then(({ ended: end }) => end);
  call.signal.throwIfAborted();
  return resultOf(ended, output.text(), seconds, performance.now() - began);
}

/** The plan that was judged, else the exact text under bash. */
async function begin(
  args: ExecArgs,
  judged: Judged,
  limits: Omit<Job, 'stages' | 'cwd'>,
  run: Run,
  enter: EnterRun,
): Promise<Pick<Running, 'write' | 'close' | 'kill' | 'ended'>> {
  const { workspace } = run.get(Turn);
  if (!judged.plan) {
    const shell = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'].find((path) => existsSync(path)) ?? '/bin/sh';
    // Where its input is a socket, as that of a background command is, bash would read ~/.bashrc.
    const plain = shell.endsWith('bash') ? [shell, '--norc', '-c', judged.text] : [shell, '-c', judged.text];
    const argv = args.pty ? ['/usr/bin/script', '-qefc', judged.text, '/dev/null'] : plain;
    const env = args.pty ? { ...limits.env, SHELL: shell, TERM: limits.env['TERM'] ?? 'xterm' } : limits.env;
    // The text itself says `cd`: it starts in the workspace, as it was shown.
    return run.get(Spawn).start({ ...limits, env, cwd: await realpath(workspace), stages: [{ argv }] }, run);
  }
  const stop = new AbortController();
  const ended = runPlan(judged.plan, workspace, { ...limits, signal: AbortSignal.any([limits.signal, stop.signal]) }, enter).catch(
    (error: unknown) => {
      if (stop.signal.aborted) return { exitCode: undefined, why: 'killed', leftovers: false } as const;
      throw error;
    },
  );
  return { write: () => false, close: () => {}, kill: () => stop.abort(new Error('killed')), ended };
}

async function inBackground(
  args: ExecArgs,
  judged: Judged,
  cwd: string,
  call: ToolCall,
  processes: Processes,
  enter: EnterRun,
): Promise<ToolResult> {
  const turn = call.run.get(Turn);
  const { sessionKey } = turn;
  refuseCrowd(processes, sessionKey);
  const output = new Output();
  const one: { current?: Background } = {};
  const onOutput = (chunk: Buffer) => {
    output.push(chunk);
    one.current?.fresh.push(chunk);
  };
  const seconds = args.timeoutSeconds ?? backgroundSeconds;
  // An abort of the run stops it; the normal end of the turn does not; the end of the gateway does.
  const signal = AbortSignal.any([call.signal, processes.signal]);
  const fresh = new Output();
  const isConfined = judged.host === 'sandbox';
  const limits = { env: call.run.get(Spawn).env(call.run), timeoutMs: seconds * 1000, signal, input: true, onOutput };
  const id = processes.nextId();
  // The turn's run may end long before the last step begins.
  const later: EnterRun = (work) => enter(work, { subject: call.run.subject, values: [given(Turn, turn)] });
  const running = await begin(args, judged, limits, call.run, later);
  one.current = { id, sessionKey, command: args.command, cwd, startedAt: Date.now(), isConfined, output, fresh, running };
  processes.add(one.current);
  const began = performance.now();
  const ended = await Promise.race([running.ended, pause(args.yieldMs ?? 0, undefined, { ref: false })]).catch((cause: unknown) => {
    processes.remove(id);
    throw cause;
  });
  call.signal.throwIfAborted();
  if (ended) {
    processes.remove(id);
    return resultOf(ended, output.text(), seconds, performance.now() - began);
  }
  one.current.fresh = new Output();
  const said = `${shown(output.text())}[runs in the background as ${id}; tool process: poll, log, write or kill it]`;
  return { ...text(said), details: { sessionId: id, status: 'running' } };
}

function refuseCrowd(processes: Processes, sessionKey: string) {
  if (processes.of(sessionKey).filter(({ ended }) => !ended).length < maxRunning) return;
  throw new KernelError('EXEC_CROWDED', `${maxRunning} commands of this session run in the background already; end some with process kill`);
}

export const shown = (output: string) => (output === '' || output.endsWith('\n') ? output : `${output}\n`);

/** How it ended, in words. */
export function endOf({ exitCode, why, leftovers }: Ended, seconds?: number): string {
  const notes = [
    ...(leftovers ? ['background processes were stopped when the command ended'] : []),
    why === 'timeout'
      ? `stopped after ${seconds === undefined ? 'its time' : `${seconds} s`} (timeoutSeconds)`
      : exitCode === undefined || why === 'killed'
        ? 'killed'
        : `exit code ${exitCode}`,
  ];
  return notes.join('; ');
}

function resultOf(ended: Ended, output: string, seconds: number, ms: number): ToolResult {
  const { exitCode, why } = ended;
  const isError = why === 'timeout' || exitCode === undefined;
  const details = { exitCode, timedOut: why === 'timeout', ms: Math.round(ms) };
  return { ...text(`${shown(output)}[${endOf(ended, seconds)}]`), details, ...(isError && { isError }) };
}

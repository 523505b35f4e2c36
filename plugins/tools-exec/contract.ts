import { bail, type Run, service, waterfall } from '../../kernel/index.ts';

export { coalesced } from './contract/coalesced.ts';
export { agentExecSchema } from './contract/schema.ts';

/** One program with its arguments. `argv[0]` is an absolute path; no shell reads any of it. */
export interface Stage {
  readonly argv: readonly string[];
  readonly redirections?: readonly Wiring[];
}

/** A descriptor of the program, wired to a file that the caller opened (its number here) or to another descriptor. */
export type Wiring = { readonly fd: 0 | 1 | 2; readonly file: number } | { readonly fd: 1 | 2; readonly same: 1 | 2 };

/** One process group: programs in a pipe, and their limits. */
export interface Job {
  readonly stages: readonly Stage[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Absent: no limit but the signal. */
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
  /** Whether `Running.write` reaches the first program. Default: there is no input. */
  readonly input?: boolean;
  /** Open descriptors of the caller, by the numbers that redirections name; at most five. He closes his own once it has started. */
  readonly files?: readonly number[];
  /** Standard output and error, as they came. */
  onOutput(chunk: Buffer): void;
}

export interface Ended {
  /** As a shell counts: 128 + n after signal n. Undefined where even the supervisor was killed. */
  readonly exitCode: number | undefined;
  readonly why: 'ended' | 'timeout' | 'aborted' | 'killed';
  /** Background processes that still held the output were killed. */
  readonly leftovers: boolean;
}

export interface Running {
  /** Of the supervisor, which leads the group. */
  readonly pid: number | undefined;
  /** False where the program takes no input, or no more. */
  write(data: string): boolean;
  /** Ends the input. */
  close(): void;
  /** SIGTERM to the whole group, SIGKILL after two seconds. */
  kill(): void;
  /** Settles once the whole group is gone. */
  readonly ended: Promise<Ended>;
}

/**
 * The only place that starts a process for an agent: own process group, scrubbed environment, limits, and the world of the
 * run's sandbox. Everything of it dies with the gateway, even by SIGKILL.
 */
export interface Spawn {
  start(job: Job, run: Run): Promise<Running>;
  /** The gateway's environment without secrets, for `Job.env`. */
  env(run: Run): Record<string, string>;
}
export const Spawn = service<Spawn>('spawn');

/** A program on its way to be started, and the world it is to be started in. */
export interface Launch {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where nobody made it `sandbox` and the run is sandboxed, it is refused: SPAWN_CONFINED. */
  readonly world: 'host' | 'sandbox';
}

/** The seam of sandbox backends: a tap rewrites the launch of a run that it confines and sets `world: 'sandbox'`. */
export const WrapSpawn = waterfall<Launch>('spawn.wrap');

/** What is known of one simple command, wherever in the text it stands. */
export interface Part {
  /** As it is written. */
  readonly text: string;
  /** Real path of what would run; absent where it cannot be told. */
  readonly executable?: string;
  readonly isAllowed: boolean;
  /** Why it is not allowed, or what allows it. */
  readonly why: string;
}

/** The answer of the one function that judges commands. */
export interface Judgement {
  readonly kind: 'allow' | 'ask' | 'deny';
  readonly host: 'sandbox' | 'gateway' | 'node';
  readonly security: 'deny' | 'allowlist' | 'full';
  readonly ask: 'off' | 'on-miss' | 'always';
  /** `plan`: what was judged is executed without a shell. `shell`: the exact text goes to bash. */
  readonly runs: 'plan' | 'shell';
  /** Exactly what runs. */
  readonly text: string;
  readonly why: string;
  /** `instar.json5:3:4` of what decided. */
  readonly rule: string;
  readonly parts: readonly Part[];
  /** What in the text only a shell can do. */
  readonly shellOnly: readonly string[];
}

/** Where a command would run and by which rules, for `agent`; of the gateway's method `exec.test {command, cwd?, agent?}`. */
export interface ExecTest extends Judgement {
  readonly agent: string;
  /** Program and arguments of each entry that "always" would add. */
  readonly always: readonly (readonly string[])[];
}

/** Asked where a run must go to a node; the first runner takes it. Without one, host "node" is refused. */
export const NodeRunner = bail<{ readonly text: string; readonly cwd: string }, { run(job: Omit<Job, 'stages'>): Promise<Ended> }>(
  'exec.node',
);

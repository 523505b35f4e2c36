import { bail, type Run, service, type Subject, type ToolRequest } from '../../kernel/index.ts';
import type { Classified, Requested } from './contract/classes.ts';

export { type ApprovalClass, type Classified, classes, classOf, type Requested } from './contract/classes.ts';

/** What a person is asked. All text is made safe to show: control characters are visible. */
export interface Question {
  readonly id: string;
  readonly tool: string;
  /** The exact thing asked for, e.g. the command line. */
  readonly what: string;
  readonly why: string;
  readonly agent: string;
  readonly sessionKey: string;
  readonly cwd?: string;
  /** Why it does not pass by itself, part by part. */
  readonly reasons: readonly string[];
  /** What the answer `always` lets pass from then on; empty: nothing, it counts as `once`. */
  readonly always: readonly string[];
  readonly askedAt: number;
  /** Exactly 30 s later no answer is a no. */
  readonly expiresAt: number;
}

export type Answer = 'once' | 'always' | 'deny';

/** Who answers from a chat. `sender` is what the gate made of stable ids, never what the message says of itself. */
export interface Answerer {
  readonly name: string;
  readonly sender: Subject['sender'];
}

/** A place where questions reach a person. The page and the terminal learn of questions by events; a chat channel brings functions. */
export interface Seat {
  /** Whether a person can see this question here. Default: every question. */
  sees?(question: Question): boolean;
  /** Shows it. A throw is as if the seat were empty for this question. */
  show?(question: Question): void | Promise<void>;
  /** It is settled: take the buttons away. */
  settled?(question: Question, answer: Answer | 'timeout' | 'aborted', by: string): void;
}

export interface Approvals {
  pending(): readonly Question[];
  /** False where the question is gone (answered, expired). */
  answer(id: string, answer: Answer, by: string): boolean;
  /** As `answer`, from a chat: throws APPROVAL_OWNER unless an owner answers. */
  answerFrom(id: string, answer: Answer, by: Answerer): boolean;
  /** Someone who can answer is there (a page, a terminal, a chat) until `leave` is called. */
  attend(name: string, seat?: Seat): { leave(): void };
  /** Whether a person said `always` to exactly this, for the agent of the run. For deciders, before they say `ask`. */
  remembers(tool: string, what: string, run: Run): Promise<boolean>;
  readonly allowlist: Allowlist;
  /** SPEC 4.3: whether a permission request of another protocol (ACP, MCP) passes by itself. */
  classify(request: Requested): Promise<Classified>;
}

export const Approvals = service<Approvals>('approvals');

/** One program that runs unasked, as `instar approvals allowlist` keeps it. */
export interface AllowlistEntry {
  readonly id: number;
  /** `*`: every agent. */
  readonly agent: string;
  readonly pattern: string;
  readonly args?: readonly string[];
  readonly argPattern?: string;
  readonly sha256?: string;
  readonly cwd?: string;
  readonly at: number;
  readonly by: string;
}

/** Rows of the store: they are one across generations and restarts. Who adds checks the entry first. */
export interface Allowlist {
  /** Of one agent, those of `*` too; of all without a name. */
  list(agent?: string): Promise<readonly AllowlistEntry[]>;
  /** The one that is there already, if one says the same. */
  add(entry: Omit<AllowlistEntry, 'id' | 'at'>): Promise<AllowlistEntry>;
  remove(id: number): Promise<boolean>;
}

/** What the plugin that wants a call approved knows of it. */
export interface Proposed {
  readonly reasons: readonly string[];
  /** Absent: `always` is the same as `once`. */
  readonly always?: { readonly adds: readonly string[]; keep(by: string): Promise<void> };
}

/** Asked before a person is. Where nobody answers, `always` means exactly this call of this tool by this agent. */
export const Proposal = bail<ToolRequest, Proposed>('approvals.proposal');

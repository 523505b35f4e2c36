import { type Run, service } from '../../kernel/index.ts';

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
  readonly askedAt: number;
  /** Exactly 30 s later no answer is a no. */
  readonly expiresAt: number;
}

export type Answer = 'once' | 'always' | 'deny';

export interface Approvals {
  pending(): readonly Question[];
  /** False where the question is gone (answered, expired). */
  answer(id: string, answer: Answer, by: string): boolean;
  /** Someone who can answer is there (a page, a terminal) until `leave` is called. */
  attend(name: string): { leave(): void };
  /** Whether a person said `always` to exactly this, for the agent of the run. For deciders, before they say `ask`. */
  remembers(tool: string, what: string, run: Run): Promise<boolean>;
}

export const Approvals = service<Approvals>('approvals');

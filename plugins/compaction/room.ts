import type { Settings } from './settings.ts';

export type Trigger = 'budget' | 'overflow' | 'command';

/** How much a request holds. Tokens; `window` 0 where the model does not say. */
export interface Load {
  readonly window: number;
  /** The prompt and the tools, which no compaction touches. */
  readonly fixed: number;
  readonly conversation: number;
}

/** How much of the conversation is to stay. Tokens. */
export interface Room {
  /** All of it together: well below what triggers, so that the next round does not compact again. */
  readonly all: number;
  /** Of it the newest turns. */
  readonly keep: number;
  readonly summary: number;
  /** One piece of the older part, as a summary is asked of it. */
  readonly piece: number;
}

/** What a request may have: the window without what the answer needs. Without a window there is no limit. */
export const limitOf = (window: number, { reserve }: Pick<Settings, 'reserve'>): number =>
  window > 0 ? window - Math.min(reserve, window / 2) : Infinity;

/** What the model may write for a summary of so many tokens: some think first. */
export const answerOf = (summary: number): number => Math.max(4_096, 2 * summary);

/** Undefined: prompt and tools leave no room for a conversation. */
export function roomFor(trigger: Trigger, { window, fixed, conversation }: Load, settings: Settings): Room | undefined {
  const limit = limitOf(window, settings);
  const free = 0.75 * limit - fixed;
  // The model refused what was thought to fit: what is known of its window, or of its tokens, is wrong.
  const all = trigger === 'overflow' ? Math.min(free > 0 ? free : Infinity, 0.6 * conversation) : free;
  if (all < 100) return undefined;
  const summary = Math.max(50, Math.min(all / 4, 4_000));
  const keep = Math.min(settings.keepRecent, all / 2, trigger === 'command' ? conversation / 3 : Infinity);
  const answer = answerOf(summary);
  const asked = Math.min(limit, window > 0 ? window - answer : 100_000);
  return { all, keep, summary, piece: Math.max(1_000, asked - summary - 1_500) };
}

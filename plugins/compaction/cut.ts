import { beginsTurn, type Message, type UserMessage } from '../sessions/contract.ts';
import { tokensOfMessage } from './estimate.ts';

/**
 * Where the part that stays begins, always past 0; undefined where there is no such place. It begins with a turn as long as
 * the last one has `most` tokens at the most; within that turn else, but never between a call and its result.
 */
export function cutAt(messages: readonly Message[], keep: number, most: number): number | undefined {
  const after = sizesFrom(messages);
  const joints = messages.flatMap(({ role }, i) => (i > 0 && role !== 'toolResult' ? [i] : []));
  const starts = joints.filter((i) => beginsTurn(messages, i));
  const fits = (tokens: number) => (i: number) => (after[i] ?? 0) <= tokens;
  const last = starts.at(-1);
  const whole = starts.find(fits(keep)) ?? (last !== undefined && fits(most)(last) ? last : undefined);
  return whole ?? joints.find((i) => i > (last ?? 0) && fits(keep)(i)) ?? joints.at(-1);
}

/** Tokens from each message to the end. */
function sizesFrom(messages: readonly Message[]): readonly number[] {
  const sizes = Array.from({ length: messages.length }, () => 0);
  let sum = 0;
  for (let i = messages.length - 1; i >= 0; i--) sizes[i] = sum += tokensOfMessage(messages[i] as Message);
  return sizes;
}

/** What the user asked for in the turn that goes on past `cut`: a summary alone must not stand for it. */
export function underWay(messages: readonly Message[], cut: number): readonly UserMessage[] {
  if (cut >= messages.length || beginsTurn(messages, cut)) return [];
  const start = messages.slice(0, cut).findLastIndex((_, i) => beginsTurn(messages, i));
  return messages.slice(Math.max(start, 0), cut).filter((message) => message.role === 'user');
}

import { beginsTurn, type Message } from './contract.ts';

/**
 * SPEC 12.1: the last turns of a history, each from its first message on: what was collected or steered into a turn is part
 * of it, and so is a summary of the turn that follows it. Without a limit, the very same list.
 */
export function limitHistoryTurns(messages: readonly Message[], turns: number | undefined): readonly Message[] {
  if (turns === undefined) return messages;
  const starts = messages.flatMap((_, i) => (i === 0 || beginsTurn(messages, i) ? [i] : []));
  const from = starts.at(-turns) ?? 0;
  return from === 0 ? messages : messages.slice(from);
}

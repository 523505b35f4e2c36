import type { Message } from './contract.ts';

/** SPEC 12.1: the last turns of a history, each from its user message on. Without a limit, the very same list. */
export function limitHistoryTurns(messages: readonly Message[], turns: number | undefined): readonly Message[] {
  if (turns === undefined) return messages;
  const starts = messages.flatMap(({ role }, i) => (role === 'user' ? [i] : []));
  const from = starts.at(-turns) ?? 0;
  return from === 0 ? messages : messages.slice(from);
}

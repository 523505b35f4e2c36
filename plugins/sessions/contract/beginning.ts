import type { Message, UserMessage } from '../contract.ts';
import { isSummary } from './summary.ts';

/** User messages that joined a turn, as their transcript tells (`Entry.joins`); the messages alone do not show it. */
const joined = new WeakSet<Message>();

/** Marks it as one that was collected with another, or steers a turn. */
export function joining<M extends UserMessage>(message: M): M {
  joined.add(message);
  return message;
}

/** Every user's message does, however the turn before it ended, but for those that joined; a summary stands for what was before. */
export function beginsTurn(messages: readonly Message[], i: number): boolean {
  const [before, message] = [messages[i - 1], messages[i]];
  return message?.role === 'user' && !joined.has(message) && !(before && standsForOlder(before));
}

const standsForOlder = ({ role, content }: Message) => role === 'user' && typeof content === 'string' && isSummary(content);

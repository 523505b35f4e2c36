import type { AssistantMessage, AssistantPart, Message } from '../sessions/contract.ts';
import { invalidArguments, invalidArgumentsOf } from './contract.ts';

/** Characters that a request has of arguments which nobody could read. */
const longest = 500;

/** The same each time, so that its wire form stays cached. */
const shortened = new WeakMap<AssistantMessage, AssistantMessage>();

/** Of a call that was cut the beginning is enough to go on from: whole, it would be paid for again with every request. */
export function withShortCalls(message: Message): Message {
  if (message.role !== 'assistant') return message;
  const known = shortened.get(message);
  if (known) return known;
  const short = message.content.some(isLong) ? { ...message, content: message.content.map(shortCall) } : message;
  shortened.set(message, short);
  return short;
}

const rawOf = (part: AssistantPart) => (part.type === 'toolCall' ? (invalidArgumentsOf(part) ?? '') : '');
const isLong = (part: AssistantPart) => rawOf(part).length > longest;

function shortCall(part: AssistantPart): AssistantPart {
  if (part.type !== 'toolCall' || !isLong(part)) return part;
  const raw = rawOf(part);
  return { ...part, arguments: invalidArguments(`${raw.slice(0, longest).toWellFormed()}… [${raw.length - longest} more characters]`) };
}

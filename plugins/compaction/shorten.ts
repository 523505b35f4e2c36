import type { Content } from '../../kernel/index.ts';
import type { Message } from '../sessions/contract.ts';

/** Its start and its end, together with a note at most so many characters. */
export function shortText(text: string, most: number): string {
  if (text.length <= most) return text;
  const note = `\n[… ${text.length - most} characters or more left out here …]\n`;
  const left = Math.max(0, most - note.length);
  const head = Math.ceil(left * 0.7);
  return `${text.slice(0, head).toWellFormed()}${note}${left > head ? text.slice(head - left).toWellFormed() : ''}`.slice(0, most);
}

/**
 * The same messages with the tool results before `end` shortened to about `most` characters each, for a request only. What
 * needs no change keeps its identity.
 */
export const shortResults = (messages: readonly Message[], end: number, most: number): readonly Message[] =>
  messages.map((message, i) => (i < end && message.role === 'toolResult' ? shortResult(message, most) : message));

function shortResult(message: Extract<Message, { role: 'toolResult' }>, most: number): Message {
  const isLong = (part: Content) => part.type === 'image' || part.text.length > most;
  if (!message.content.some(isLong)) return message;
  const content = message.content.map((part): Content => {
    if (part.type === 'image') return { type: 'text', text: '[an image was here]' };
    return isLong(part) ? { ...part, text: shortText(part.text, most) } : part;
  });
  return { ...message, content };
}

import type { Content } from '../../kernel/index.ts';
import type { Message } from '../sessions/contract.ts';
import { bytesPerToken } from './estimate.ts';
import { shortText } from './shorten.ts';

/** Characters of one thing said, and of one result: what a summary can make use of. */
const most = { said: 20_000, args: 1_000, result: 2_000 };

/** Messages as lines that a model can read, each of one message. What it thought is left out: what it did tells more. */
export const linesOf = (messages: readonly Message[]): readonly string[] =>
  messages.map((message) => lineOf(message).trim()).filter(Boolean);

function lineOf(message: Message): string {
  if (message.role === 'user') return `[user] ${shortText(textOf(message.content), most.said)}`;
  if (message.role === 'toolResult') {
    const how = message.isError ? 'failed' : 'returned';
    return `[${message.toolName} ${how}] ${shortText(textOf(message.content), most.result)}`;
  }
  return message.content
    .flatMap((part) => {
      if (part.type === 'text') return part.text.trim() ? [`[assistant] ${shortText(part.text, most.said)}`] : [];
      return part.type === 'toolCall' ? [`[assistant calls ${part.name}] ${shortText(JSON.stringify(part.arguments), most.args)}`] : [];
    })
    .join('\n');
}

export const textOf = (content: string | readonly Content[]): string =>
  typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '[an image]')).join('\n');

/** Pieces of so many tokens at the most; a line that is longer has a piece of its own, shortened. */
export function piecesOf(lines: readonly string[], tokens: number): readonly (readonly string[])[] {
  const bytes = tokens * bytesPerToken;
  const pieces: string[][] = [];
  let size = Infinity;
  for (const line of lines) {
    const fitting = inBytes(line, bytes);
    const own = Buffer.byteLength(fitting) + 2;
    if (size + own > bytes) {
      pieces.push([]);
      size = 0;
    }
    pieces.at(-1)?.push(fitting);
    size += own;
  }
  return pieces;
}

/** Its start and its end, in so many bytes. */
export function inBytes(text: string, bytes: number): string {
  const size = Buffer.byteLength(text);
  if (size <= bytes) return text;
  // By its own measure of bytes to a character first, then by the widest there are.
  const close = shortText(text, Math.floor((bytes * text.length) / size));
  return Buffer.byteLength(close) <= bytes ? close : shortText(text, Math.floor(bytes / 3));
}

import type { Message } from '../sessions/contract.ts';
import { bytesPerToken } from './estimate.ts';
import { textOf } from './record.ts';
import { shortText } from './shorten.ts';

/** Where no model makes a summary: what the user said, newest first kept, and which tools were called. Nothing is made up. */
export function extractOf(older: readonly Message[], tokens: number, why: string): string {
  const head = `(No summary could be made: ${shortText(why, 200)}. These are the user's own words of that part, shortened.)`;
  const tail = toolsIn(older);
  let left = tokens * bytesPerToken - Buffer.byteLength(head + tail) - 20;
  const said: string[] = [];
  for (const { role, content } of older.toReversed()) {
    if (role !== 'user') continue;
    const line = `- ${shortText(textOf(content), 600).replace(/\s+/g, ' ')}`;
    left -= Buffer.byteLength(line) + 1;
    if (left < 0) break;
    said.unshift(line);
  }
  return [head, ...said, tail].filter(Boolean).join('\n');
}

function toolsIn(messages: readonly Message[]): string {
  const counts = new Map<string, number>();
  for (const message of messages) {
    if (message.role === 'toolResult') counts.set(message.toolName, (counts.get(message.toolName) ?? 0) + 1);
  }
  const named = [...counts].slice(0, 20).map(([name, count]) => `${name} (${count})`);
  return named.length ? `Tools that were called: ${named.join(', ')}` : '';
}

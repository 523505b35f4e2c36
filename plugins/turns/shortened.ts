import type { Content } from '../../kernel/index.ts';

/** Characters of a message that are kept where it is shortened. */
const longest = 200;

/** How a message begins, for a turn that answers it with others because more came than may wait. What is short stays whole. */
export function shortened(content: string | readonly Content[]): string {
  const parts = typeof content === 'string' ? [content] : content.map((part) => (part.type === 'text' ? part.text : '[a picture]'));
  const text = parts.join(' ').trim();
  const hasAll = typeof content === 'string' || content.every(({ type }) => type === 'text');
  if (hasAll && text.length <= longest) return text;
  const line = Array.from(text.replace(/\s+/g, ' '));
  const head = line.length > longest ? `${line.slice(0, longest).join('').trimEnd()}…` : line.join('');
  return `[one of many messages that came at once, shortened] ${head}`;
}

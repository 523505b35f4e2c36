// @ts-check
/** Tells a screen reader what happened: a whole answer once, not each word of it. */
import { byId } from './element.js';

const longestTold = 600;

/** @param {string} text */
export function announce(text) {
  byId('div', 'announcer').textContent = text.length > longestTold ? `${text.slice(0, longestTold)} …` : text;
}

/** @param {import('../../sessions/contract.ts').Message} message */
export function announceReply(message) {
  if (message.role !== 'assistant') return;
  const text = message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ');
  if (text.trim()) announce(text.replace(/[*_`#>|]/g, ''));
}

import type { ModelEvent } from '../models/contract.ts';
import { silentToken } from '../turns/contract.ts';

/**
 * Holds text back while it may still become the silent token, however the stream is cut: nobody is shown the start of an
 * answer that then is none. `settle` lets go what is held, unless it is that token.
 */
export function untilDecided(pass: (event: ModelEvent) => void) {
  let held: ModelEvent[] = [];
  let text = '';
  let isDecided = false;
  const release = () => {
    isDecided = true;
    for (const event of held) pass(event);
    held = [];
  };
  const on = (event: ModelEvent) => {
    if (event.type !== 'text' || isDecided) return pass(event);
    text += event.delta;
    held.push(event);
    if (!silentToken.startsWith(text.trim())) release();
  };
  const settle = () => {
    if (text.trim() !== silentToken) release();
  };
  return { on, settle };
}

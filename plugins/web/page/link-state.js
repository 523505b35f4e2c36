// @ts-check
/** Says how the connection stands wherever it is not simply there. */
import { byId, h, setText } from './element.js';

/** @param {{ onRetry: () => void }} options */
export function createLinkState({ onRetry }) {
  const banner = byId('div', 'link-state');
  const text = h('span');
  const retry = h('button', { type: 'button', class: 'quiet', onclick: onRetry }, 'Retry now');
  banner.append(h('span', { class: 'busy' }), text, retry);
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let ticking;

  return {
    /** @param {import('./connection.js').LinkState} state */
    show(state) {
      clearInterval(ticking);
      banner.hidden = state.phase === 'open' || state.phase === 'refused';
      retry.hidden = state.phase !== 'waiting';
      if (state.phase === 'connecting') setText(text, 'Connecting…');
      if (state.phase !== 'waiting') return;
      const tell = () => {
        const seconds = Math.max(0, Math.ceil((state.retryAt - Date.now()) / 1000));
        setText(text, seconds > 0 ? `${state.why}. Trying again in ${seconds} s` : `${state.why}. Trying again…`);
      };
      tell();
      ticking = setInterval(tell, 500);
    },
  };
}

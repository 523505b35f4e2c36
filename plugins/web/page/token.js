// @ts-check
/** The access token: from the address's fragment, which no server sees, or typed in. */
import { byId, setText } from './element.js';
import { keep, kept } from './keep.js';

/** Takes `#token=…` out of the address bar (and the history) and keeps it. @returns {string | undefined} */
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (!given) return kept('token');
  keep('token', given);
  history.replaceState(null, '', location.pathname + location.search);
  return given;
}

/** Asks until something is typed. @param {string} [why] @returns {Promise<string>} */
export function askToken(why = '') {
  const dialog = byId('dialog', 'access');
  const form = byId('form', 'access-form');
  const input = byId('input', 'access-token');
  setText(byId('p', 'access-why'), why);
  input.value = '';
  if (!dialog.open) dialog.showModal();
  return new Promise((resolve) => {
    dialog.oncancel = (event) => event.preventDefault();
    form.onsubmit = (event) => {
      event.preventDefault();
      const token = tokenIn(input.value);
      if (!token) return;
      keep('token', token);
      dialog.close();
      resolve(token);
    };
  });
}

export const forgetToken = () => keep('token', undefined);

/** People paste the whole address as often as the token. @param {string} typed */
const tokenIn = (typed) => (/[#&]token=([^&\s]+)/.exec(typed)?.[1] ?? typed).trim();

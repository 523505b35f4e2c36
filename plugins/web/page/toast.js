// @ts-check
/** Short news at the edge of the page. What went wrong stays until it is closed. */
import { byId, h } from './element.js';
import { icon } from './icons.js';

const staysMs = 6000;

/** A newer one takes the place of that `about` the same. @param {string} title @param {string} [text] @param {'news' | 'problem'} [kind] @param {string} [about] */
export function toast(title, text = '', kind = 'news', about) {
  const close = h('button', { type: 'button', class: 'quiet', 'aria-label': 'Close' }, icon('close'));
  const isProblem = kind === 'problem';
  const body = h('div', {}, h('strong', {}, title), text && h('p', {}, text));
  const node = h('div', { class: `toast ${kind}`, role: isProblem ? 'alert' : 'status' }, icon(isProblem ? 'alert' : 'check'), body, close);
  close.onclick = () => node.remove();
  const region = byId('div', 'toasts');
  if (about !== undefined) {
    node.dataset['about'] = about;
    for (const old of region.querySelectorAll('[data-about]'))
      if (/** @type {HTMLElement} */ (old).dataset['about'] === about) old.remove();
  }
  region.append(node);
  while (region.children.length > 4) region.firstChild?.remove();
  if (!isProblem) setTimeout(() => node.remove(), staysMs);
}

/** @param {unknown} error @param {string} what */
export function toastError(error, what) {
  const { code, message } = /** @type {{ code?: string, message: string }} */ (error);
  toast(what, code ? `${code}: ${message}` : message, 'problem');
}

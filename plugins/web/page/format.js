// @ts-check
/** Numbers and times as people read them. */

/** @param {number} count */
export function tokens(count) {
  if (count < 1000) return String(count);
  return count < 100_000 ? `${(count / 1000).toFixed(1)}k` : `${Math.round(count / 1000)}k`;
}

/** @param {number} ms */
export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** @param {number} dollars */
export const money = (dollars) => `$${dollars < 0.1 ? dollars.toFixed(4) : dollars.toFixed(2)}`;

const weekday = new Intl.DateTimeFormat(undefined, { weekday: 'short' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

/** As little as still places it within its day group: 5m, 3h, nothing for yesterday, Tue, 12 Mar. @param {number} at @param {number} [now] */
export function when(at, now = Date.now()) {
  const days = daysBetween(at, now);
  if (days > 1) return days < 7 ? weekday.format(at) : day.format(at);
  if (days === 1) return '';
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return 'now';
  return minutes < 60 ? `${minutes}m` : `${Math.floor(minutes / 60)}h`;
}

/** @param {number} at @param {number} [now] */
export function dayGroup(at, now = Date.now()) {
  const age = daysBetween(at, now);
  if (age <= 0) return 'Today';
  if (age === 1) return 'Yesterday';
  return age < 7 ? 'This week' : 'Earlier';
}

/** @param {number} at */
export const fullTime = (at) => new Date(at).toLocaleString();

/** @param {number} at @param {number} now */
function daysBetween(at, now) {
  const midnight = (/** @type {number} */ time) => new Date(time).setHours(0, 0, 0, 0);
  return Math.round((midnight(now) - midnight(at)) / 86_400_000);
}

/** Shows what would not be seen, or would reorder what is seen: control and direction marks. @param {string} text */
export function visible(text) {
  const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;
  return text.replace(hidden, (mark) => `\\u{${mark.codePointAt(0)?.toString(16)}}`);
}

// @ts-check
/** What the browser keeps for this page. Storage may be switched off or full: then it is kept for this load only. */

/** @type {Map<string, string>} */
const memory = new Map();

/** @param {string} name @returns {string | undefined} */
export function kept(name) {
  try {
    return localStorage.getItem(`instar.${name}`) ?? memory.get(name);
  } catch {
    return memory.get(name); // storage is refused to this page
  }
}

/** @param {string} name @param {string | undefined} value */
export function keep(name, value) {
  if (value) memory.set(name, value);
  else memory.delete(name);
  try {
    if (value) localStorage.setItem(`instar.${name}`, value);
    else localStorage.removeItem(`instar.${name}`);
  } catch {
    // refused or full: memory has it
  }
}

/** @template T @param {string} name @param {T} otherwise @returns {T} */
export function keptJson(name, otherwise) {
  try {
    return JSON.parse(kept(name) ?? '') ?? otherwise;
  } catch {
    return otherwise; // nothing there, or not ours
  }
}

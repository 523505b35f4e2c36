// @ts-check
import purify from '/vendor/dompurify.js';
import hljs from '/vendor/highlight.js';

/** @param {string} code @param {string} language @returns {DocumentFragment | undefined} */
export function highlight(code, language) {
  if (!hljs.getLanguage(language)) return undefined;
  const { value } = hljs.highlight(code, { language, ignoreIllegals: true });
  return purify.sanitize(value, { ALLOWED_TAGS: ['span'], ALLOWED_ATTR: ['class'], RETURN_DOM_FRAGMENT: true });
}

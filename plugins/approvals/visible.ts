/** What text must not do where a person reads it to decide: move the cursor, turn its direction, hide or end a line. */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u23CE\u3164\u115F\u1160\uFFA0\u2800]|(?! )\p{Zs}|\p{Variation_Selector}/gu;

/** Makes every control, invisible and direction character visible: `\x1b`, `\u202e`, and `⏎` for the end of a line. */
export const visible = (text: string): string => text.replace(hidden, (char) => (char === '\n' ? '⏎' : escaped(char)));

function escaped(char: string): string {
  if (char === '\r') return '\\r';
  if (char === '\t') return '\\t';
  const code = char.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x100) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`;
}

/** Characters that end a word or make a shell do something where they stand outside quotes. */
const active = /[\s|&;<>()$`*?[\]{}!]/;

/**
 * The value of a word by the quoting rules alone; undefined where a shell would expand anything in it. A second reading beside the
 * grammar's: where the two differ, nobody executes the word.
 */
export function unquoted(text: string): string | undefined {
  if (text === '' || text.startsWith('~') || text.startsWith('#')) return undefined;
  let value = '';
  for (let i = 0; i < text.length; ) {
    const char = text[i] as string;
    if (char === "'") {
      const end = text.indexOf("'", i + 1);
      if (end < 0) return undefined;
      value += text.slice(i + 1, end);
      i = end + 1;
    } else if (char === '"') {
      const inner = doubleQuoted(text, i + 1);
      if (!inner) return undefined;
      value += inner.value;
      i = inner.end;
    } else if (char === '\\') {
      if (i + 1 >= text.length) return undefined;
      if (text[i + 1] !== '\n') value += text[i + 1];
      i += 2;
    } else {
      if (active.test(char)) return undefined;
      value += char;
      i += 1;
    }
  }
  return value;
}

function doubleQuoted(text: string, from: number): { readonly value: string; readonly end: number } | undefined {
  let value = '';
  for (let i = from; i < text.length; i += 1) {
    const char = text[i] as string;
    if (char === '"') return { value, end: i + 1 };
    if (char === '$' || char === '`') return undefined;
    if (char !== '\\') {
      value += char;
      continue;
    }
    const next = text[i + 1] ?? '';
    i += 1;
    if (next !== '\n') value += '$`"\\'.includes(next) ? next : `\\${next}`;
  }
  return undefined;
}

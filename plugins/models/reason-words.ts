/** One text or number of an error's body, with the name of its field; an item of a list has that of the list. */
export interface Word {
  readonly field: string;
  readonly value: string | number;
}

/** What servers send back of the request, or of the model's answer: no verdict of theirs. */
const echoes: ReadonlySet<string> = new Set(['failed_generation', 'input', 'ctx', 'request', 'messages', 'prompt']);
const deepest = 8;

/** All that an error says of itself, wherever it stands: each server has its own place for it. What is no JSON is one text. */
export function wordsIn(body: string): readonly Word[] {
  const found: Word[] = [];
  const read = (at: unknown, field: string, depth: number): void => {
    if (depth > deepest) return;
    // What a server was told by the one that it asked in turn is JSON in a text.
    const value = typeof at === 'string' ? parsed(at) : at;
    if (typeof value === 'string' || typeof value === 'number') found.push({ field, value });
    else if (typeof at === 'string') read(value, field, depth + 1);
    else if (Array.isArray(value)) value.forEach((each) => read(each, field, depth + 1));
    else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) if (!echoes.has(name)) read(inner, name, depth + 1);
  };
  read(body, '', 0);
  return found;
}

/** The text itself where it is no JSON. */
function parsed(text: string): unknown {
  if (!/^\s*[{["]/.test(text)) return text;
  for (const attempt of [() => text, ...mended(text)]) {
    try {
      return JSON.parse(attempt()) as unknown;
    } catch {
      // the next way to close it, or no JSON after all
    }
  }
  return text;
}

/** JSON that was cut, closed: with its last text as far as it came, else without its last item. */
function mended(cut: string): readonly (() => string)[] {
  const open: string[] = [];
  let [isText, escape, comma, closing] = [false, -1, -1, ''];
  for (let i = 0; i < cut.length; i++) {
    const c = cut[i];
    if (isText && c === '\\') escape = i++;
    else if (c === '"') isText = !isText;
    else if (isText) continue;
    else if (c === '{' || c === '[') open.unshift(c === '{' ? '}' : ']');
    else if (c === '}' || c === ']') open.shift();
    else if (c === ',') [comma, closing] = [i, open.join('')];
  }
  if (!isText && open.length === 0) return []; // not cut: no JSON
  const isHalf = isText && escape >= 0 && cut.length - escape < (cut[escape + 1] === 'u' ? 6 : 2);
  const whole = isHalf ? cut.slice(0, escape) : cut;
  return [() => `${whole}${isText ? '"' : ''}${open.join('')}`, () => `${cut.slice(0, Math.max(comma, 0))}${closing}`];
}

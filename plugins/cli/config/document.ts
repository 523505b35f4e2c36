import JSON5 from 'json5';

/** A value as it stands in a JSON5 text: offsets, and what it is made of. */
export interface Node {
  readonly kind: 'object' | 'list' | 'leaf';
  readonly start: number;
  readonly end: number;
  /** Members or elements, in order. Of two members of one key the last counts. */
  readonly parts: readonly Part[];
}

export interface Part {
  /** Of an element: its index. */
  readonly key: string;
  /** Where its key begins; of an element, its value. */
  readonly start: number;
  readonly keyEnd: number;
  readonly value: Node;
  /** Of the comma after it, if there is one. */
  readonly comma: number | undefined;
}

const gap = /(?:\s+|\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\/)*/y;
const token = /"[^"\\]*(?:\\[^][^"\\]*)*"|'[^'\\]*(?:\\[^][^'\\]*)*'|[^\s{}[\],:"'/]+/y;

/** The places of a text that JSON5 reads; throws its SyntaxError where it does not. What it holds is JSON5's to say, so that there is one reader. */
export function parseDocument(text: string): Node {
  JSON5.parse(text);
  let at = 0;
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    at += pattern.exec(text)?.[0].length ?? 0;
  };
  const isNext = (character: string) => {
    take(gap);
    return text[at] === character;
  };

  function value(): Node {
    take(gap);
    const start = at;
    if (text[at] === '{') return { kind: 'object', start, parts: parts('}', true), end: at };
    if (text[at] === '[') return { kind: 'list', start, parts: parts(']', false), end: at };
    take(token);
    return { kind: 'leaf', start, end: at, parts: [] };
  }

  function parts(close: string, keyed: boolean): readonly Part[] {
    const found: Part[] = [];
    at++;
    while (!isNext(close)) {
      const start = at;
      if (keyed) take(token);
      const keyEnd = at;
      const key = keyed ? keyOf(text.slice(start, keyEnd)) : String(found.length);
      if (keyed && isNext(':')) at++;
      const inner = value();
      const comma = isNext(',') ? at++ : undefined;
      found.push({ key, start, keyEnd, value: inner, comma });
    }
    at++;
    return found;
  }

  return value();
}

const keyOf = (text: string): string => Object.keys(JSON5.parse<object>(`{${text}:0}`))[0] ?? '';

export const sliceOf = (text: string, { start, end }: Pick<Node, 'start' | 'end'>) => text.slice(start, end);

export const partOf = ({ parts }: Node, key: string): Part | undefined => parts.findLast((part) => part.key === key);

/** `12:7`, as editors count. */
export function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(text.startsWith('\uFEFF') ? 1 : 0, offset).split(/\r\n|[\n\r]/);
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}

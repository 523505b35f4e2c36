import JSON5 from 'json5';
import { type Node, type Part, sliceOf } from './document.ts';
import { render, renderKey, type Style } from './render.ts';

/** What is put in place of a part of a text. Every byte outside of it stays. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A text and its places. */
export interface Document {
  readonly text: string;
  readonly root: Node;
}

/** From the end, so that offsets stay true; of two at one place the first stands first. */
export const applySplices = (text: string, splices: readonly Splice[]) =>
  splices
    .toReversed()
    .toSorted((a, b) => b.start - a.start)
    .reduce((now, { start, end, text: put }) => now.slice(0, start) + put + now.slice(end), text);

/** A string stays in its own quotes. */
export function replaceValue(document: Document, node: Node, value: unknown): readonly Splice[] {
  const { text } = document;
  const own = text[node.start];
  const style = styleOf(document, node);
  const quoted: Style = own === '"' || own === "'" ? { ...style, quote: own } : style;
  return [{ start: node.start, end: node.end, text: render(value, quoted, lineIndent(text, node.start)) }];
}

/** A member or an element more, as the last one: on a line of its own where the closing bracket has one. */
export function insertPart(document: Document, into: Node, key: string | undefined, value: unknown): readonly Splice[] {
  const { text } = document;
  const close = into.end - 1;
  const last = into.parts.at(-1);
  const style = styleOf(document, into);
  const commas = last && last.comma === undefined ? [{ start: last.value.end, end: last.value.end, text: ',' }] : [];
  const ending = last?.comma === undefined ? '' : ',';
  const member = (margin: string) => (key === undefined ? '' : renderKey(key, style) + style.colon) + render(value, style, margin) + ending;
  const braceMargin = /[ \t]*$/.exec(text.slice(into.start + 1, close))?.[0] ?? '';
  const at = close - braceMargin.length;
  if (!/[\n\r]/.test(text[at - 1] ?? '')) return [...commas, { start: at, end: at, text: beside(into, member(''), last, braceMargin) }];
  const margin = (last && ownMargin(text, last.start)) ?? lineIndent(text, into.start) + style.indent;
  return [...commas, { start: at, end: at, text: margin + member(margin) + style.newline }];
}

/** On the line of the closing bracket. Objects breathe, lists do not, unless the neighbours do otherwise. */
function beside({ kind, parts }: Node, member: string, last: Part | undefined, braceMargin: string): string {
  const before = parts.length || (kind === 'object' && !braceMargin) || braceMargin ? ' ' : '';
  const after = !last && kind === 'object' && !braceMargin ? ' ' : '';
  return `${before}${member}${after}`;
}

/**
 * Takes a member or an element out, with its comma, and with its line where nothing else is on it. Comments stay. The comma of
 * the one before goes too where it would now be the only trailing one.
 */
export function removePart({ text }: Document, from: Node, part: Part): readonly Splice[] {
  const i = from.parts.indexOf(part);
  const before = from.parts[i - 1];
  const splices = [whole(text, part.start, part.comma === part.value.end ? part.comma + 1 : part.value.end)];
  if (part.comma !== undefined && part.comma !== part.value.end) splices.push({ start: part.comma, end: part.comma + 1, text: '' });
  const isLastBare = part.comma === undefined && before?.comma !== undefined;
  if (isLastBare) splices.push({ start: before.comma, end: before.comma + 1, text: '' });
  return splices;
}

/** With the white space around that only it needed. */
function whole(text: string, start: number, end: number): Splice {
  const margin = ownMargin(text, start);
  const rest = /^[ \t]*(\r\n|[\n\r])/.exec(text.slice(end));
  if (margin !== undefined && rest) return { start: start - margin.length, end: end + rest[0].length, text: '' };
  const spaces = /^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0;
  const isSpaced = margin !== undefined || (/[ \t]/.test(text[start - 1] ?? '') && !/[\n\r/]/.test(text[end + spaces] ?? ''));
  return { start, end: isSpaced ? end + spaces : end, text: '' };
}

/** The white space before what stands at this place, if nothing else is before it on its line. */
const ownMargin = (text: string, at: number) => /(?:^\uFEFF?|[\n\r])([ \t]*)$/.exec(text.slice(0, at))?.[1];

const lineIndent = (text: string, at: number) => /(?:^\uFEFF?|[\n\r])([ \t]*)[^\n\r]*$/.exec(text.slice(0, at))?.[1] ?? '';

/** As the neighbours have it, else as the file has it. */
function styleOf({ text, root }: Document, near: Node): Style {
  const neighbours = near.kind === 'object' && near.parts.length ? near.parts : root.kind === 'object' ? root.parts : [];
  const isQuoted = ({ start }: Part) => /["']/.test(text[start] ?? '');
  const quotesKeys = neighbours.length > 0 && neighbours.every(isQuoted);
  const marks = [...leaves(root)].map(({ start }) => text[start]).filter((mark) => mark === '"' || mark === "'");
  const keyMark = quotesKeys ? text[neighbours[0]?.start ?? 0] : undefined;
  const doubles = marks.filter((mark) => mark === '"').length;
  const quote = keyMark === '"' || (!keyMark && doubles * 2 > marks.length) ? '"' : "'";
  const [part] = neighbours;
  const colon = part && text.slice(part.keyEnd, part.value.start) === ':' ? ':' : ': ';
  const newline = /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
  const first = root.parts[0];
  const indent = (first && ownMargin(text, first.start)?.slice(lineIndent(text, root.start).length)) || '  ';
  return { quote, quotesKeys, colon, newline, indent, width: 100, trailingComma: trails(root) };
}

function* leaves(node: Node): Generator<Node> {
  if (node.kind === 'leaf') yield node;
  for (const { value } of node.parts) yield* leaves(value);
}

const trails = ({ parts }: Node) => parts.at(-1)?.comma !== undefined;

/** The value that stands there. */
export const valueOf = ({ text }: Document, node: Node): unknown => JSON5.parse(sliceOf(text, node));

import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { ObjectNode, Token } from '@humanwhocodes/momoa';
import JSON5 from 'json5';
import { KernelError } from '../../../kernel/index.ts';

type Tree = Readonly<Record<string, unknown>>;

/** The text with one value set at a path of keys. Every other byte stays: comments, quotes, order. */
export async function withValue(text: string, keys: readonly string[], value: boolean): Promise<string> {
  const { parse } = await import('@humanwhocodes/momoa');
  const { body, tokens = [] } = parse(text, { mode: 'json5', ranges: true, tokens: true });
  const edited = body.type === 'Object' ? edit({ text, tokens, root: body }, body, keys, value) : undefined;
  if (edited !== undefined && isDeepStrictEqual(readBack(edited), withSet(JSON5.parse(text), keys, value))) return edited;
  throw new KernelError('CONFIG_EDIT', `the config is not of a form that can be edited safely; set ${keys.join('.')} to ${value} by hand`);
}

interface Source {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly root: ObjectNode;
}

function edit(source: Source, node: ObjectNode, [key = '', ...rest]: readonly string[], value: boolean): string | undefined {
  const member = node.members.findLast(({ name }) => keyOf(name) === key); // of two the last counts
  if (!member) return insert(source, node, [key, ...rest], value);
  if (rest.length > 0) return member.value.type === 'Object' ? edit(source, member.value, rest, value) : undefined;
  const [start, end] = rangeOf(member.value);
  return source.text.slice(0, start) + String(value) + source.text.slice(end);
}

/** A member more, as the last one: on a line of its own where the closing brace has one. */
function insert(source: Source, node: ObjectNode, keys: readonly string[], value: boolean): string {
  const { text, tokens } = source;
  const [open, end] = rangeOf(node);
  const close = end - 1;
  const last = node.members.at(-1);
  const lastEnd = last ? rangeOf(last)[1] : open + 1;
  const hasComma = tokens.some((token) => token.type === 'Comma' && rangeOf(token)[0] >= lastEnd && rangeOf(token)[0] < close);
  const withComma = last && !hasComma ? `${text.slice(0, lastEnd)},${text.slice(lastEnd, close)}` : text.slice(0, close);
  const member = `${render(source, keys, value)}${hasComma ? ',' : ''}`;
  const [beforeBrace = ''] = /[ \t]*$/.exec(withComma) ?? [];
  const body = withComma.slice(0, withComma.length - beforeBrace.length);
  if (!body.endsWith('\n')) return `${body} ${member}${beforeBrace || (last ? '' : ' ')}${text.slice(close)}`;
  const line = body.endsWith('\r\n') ? '\r\n' : '\n';
  return `${body}${indentOf(text, last ? rangeOf(last)[0] : undefined) ?? `${beforeBrace}  `}${member}${line}${beforeBrace}${text.slice(close)}`;
}

/** The white space before what stands at this place, if nothing else is before it on its line. */
function indentOf(text: string, at: number | undefined): string | undefined {
  return at === undefined ? undefined : /(?:^|\n)([ \t]*)$/.exec(text.slice(0, at))?.[1];
}

/** Keys are quoted as the file quotes its own. */
function render({ text, root }: Source, keys: readonly string[], value: boolean): string {
  const allQuoted = root.members.length > 0 && root.members.every(({ name }) => name.type === 'String');
  const quote = allQuoted ? (/["']/.exec(text)?.[0] ?? '"') : text.includes("'") || !text.includes('"') ? "'" : '"';
  const keyText = (key: string) => (allQuoted || !/^[A-Za-z_$][\w$]*$/.test(key) ? quote + key + quote : key);
  return keys.reduceRight((inner, key, i) => `${keyText(key)}: ${i === keys.length - 1 ? inner : `{ ${inner} }`}`, String(value));
}

const keyOf = (name: ObjectNode['members'][number]['name']) => (name.type === 'String' ? name.value : name.name);

/** There, since `ranges` was asked for. */
const rangeOf = ({ range }: { readonly range?: readonly [number, number] | readonly number[] }) => range as readonly [number, number];

const withSet = (tree: Tree, [key = '', ...rest]: readonly string[], value: boolean): Tree => ({
  ...tree,
  [key]: rest.length ? withSet((tree[key] ?? {}) as Tree, rest, value) : value,
});

function readBack(text: string): unknown {
  try {
    return JSON5.parse(text);
  } catch {
    return undefined; // no edit of ours may do that: refused by whoever compares
  }
}

/** The text of a config file, with its BOM; undefined where there is none. */
export const readText = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);

/** Puts a text in place of the one that was read; one that was written meanwhile is kept, and told. `undefined` is no file. */
export function replaceText(file: string, before: string | undefined, after: string | undefined) {
  if (readText(file) !== before) {
    throw new KernelError('CONFIG_CONFLICT', `${file} was changed meanwhile by somebody else; nothing was written, try again`);
  }
  if (after === undefined) return rmSync(file);
  if (before === undefined) return writeFileSync(file, after, { mode: 0o600, flag: 'wx' });
  const target = realpathSync(file);
  const fresh = `${target}.${randomBytes(4).toString('hex')}`;
  writeFileSync(fresh, after, { mode: statSync(target).mode & 0o777 });
  renameSync(fresh, target);
}

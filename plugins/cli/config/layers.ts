import { dirname, resolve } from 'node:path';
import { KernelError, messageOf } from '../../../kernel/index.ts';
import { lineAndColumn, type Node, type Part, parseDocument, partOf } from './document.ts';
import { readText } from './files.ts';
import { type Document, valueOf } from './splice.ts';

/** A file of the config, with the places in it. */
export interface Source extends Document {
  readonly file: string;
}

/** A value in one file. `part` is the member or element that it is the value of, in this file or the including one. */
export interface Layer {
  readonly source: Source;
  readonly node: Node;
  /** The way to it within its own file. */
  readonly keys: readonly string[];
}

/**
 * A value of the whole config: objects of several files that are merged, or lists that are joined; of anything else the last
 * one counts. Never empty; the last is where a change belongs.
 */
export type Layers = readonly [Layer, ...Layer[]];

/** A member or an element, as it stands in the file that has it. */
export interface Held {
  readonly source: Source;
  readonly into: Node;
  readonly part: Part;
  readonly keys: readonly string[];
}

export interface Tree {
  readonly root: Layers;
  /** The config's files, the main one first. */
  readonly sources: readonly Source[];
  /** What a member or an element is made of; undefined where there is none. */
  readonly child: (layers: Layers, key: string) => Layers | undefined;
}

/** Reads the config's files with what they include, as the gateway does, but for places instead of values. */
export function openTree(file: string, read: (file: string) => string | undefined = readText): Tree {
  const sources = new Map<string, Source>();

  function open(path: string): Layer {
    const known = sources.get(path);
    const source = known ?? sourceOf(path, read(path));
    sources.set(path, source);
    return { source, node: source.root, keys: [] };
  }

  function expand(layer: Layer, depth = 0): Layers {
    const { source, node } = layer;
    const include = partOf(node, '$include');
    if (node.kind !== 'object' || !include) return [layer];
    if (depth > 10) throw new KernelError('CONFIG_TEXT', `${source.file}: includes are nested deeper than 10`);
    const names = [valueOf(source, include.value)].flat().map(String);
    const included = names.map((name) => expand(open(resolve(dirname(source.file), name)), depth + 1)).reduce(merge);
    // One file that stands for the whole object owns it; beside several, new keys are this one's.
    const hasOwn = names.length > 1 || node.parts.some(({ key }) => key !== '$include');
    return hasOwn && included[0].node.kind === 'object' ? merge(included, [layer]) : included;
  }

  const child: Tree['child'] = (layers, key) => {
    const found = held(layers, key).map(({ source, part, keys }) => expand({ source, node: part.value, keys }));
    return found.length ? found.reduce(merge) : undefined;
  };
  const root = expand(open(file));
  const visit = (layers: Layers) => {
    for (const key of keysOf(layers)) visit(child(layers, key) ?? layers);
  };
  visit(root); // what is included anywhere is known from now on
  return { root, child, sources: [...sources.values()] };
}

/** Each file's member or element of this key. */
export function held(layers: Layers, key: string): readonly Held[] {
  if (layers[0].node.kind === 'leaf') return [];
  if (layers[0].node.kind === 'list') {
    const all = layers.flatMap(({ source, node, keys }) =>
      node.parts.map((part) => ({ source, into: node, part, keys: [...keys, part.key] })),
    );
    return /^\d+$/.test(key) ? all.slice(Number(key), Number(key) + 1) : [];
  }
  return layers.flatMap(({ source, node, keys }) => {
    const part = key === '$include' ? undefined : partOf(node, key);
    return part ? [{ source, into: node, part, keys: [...keys, key] }] : [];
  });
}

function merge(first: Layers, second: Layers): Layers {
  const kind = first[0].node.kind;
  return kind !== 'leaf' && kind === second[0].node.kind ? [...first, ...second] : second;
}

function sourceOf(file: string, text: string | undefined): Source {
  if (text === undefined) throw new KernelError('CONFIG_TEXT', `${file} cannot be read: there is no such file`);
  try {
    return { file, text, root: parseDocument(text) };
  } catch (cause) {
    const { lineNumber: line = 1, columnNumber: column = 1 } = cause as { lineNumber?: number; columnNumber?: number };
    const what = messageOf(cause).replace(/^JSON5: | at \d+:\d+$/g, '');
    throw new KernelError('CONFIG_TEXT', `${file}:${line}:${column}: ${what}`, { cause });
  }
}

/** `file:line:column` of an offset. */
export const placeIn = ({ file, text }: Source, offset: number) => `${file}:${lineAndColumn(text, offset)}`;

/** The keys of an object or the indexes of a list. */
export function keysOf(layers: Layers): readonly string[] {
  const parts = layers.flatMap(({ node }) => node.parts);
  if (layers[0].node.kind === 'list') return parts.map((_, i) => String(i));
  return [...new Set(parts.map(({ key }) => key))].filter((key) => key !== '$include');
}

/** The value, with `${VAR}` as written. */
export function valueAt(tree: Tree, layers: Layers): unknown {
  const last = layers.at(-1) ?? layers[0];
  if (last.node.kind === 'leaf') return valueOf(last.source, last.node);
  const inner = keysOf(layers).map((key) => [key, valueAt(tree, tree.child(layers, key) ?? layers)] as const);
  return last.node.kind === 'list' ? inner.map(([, value]) => value) : Object.fromEntries(inner);
}

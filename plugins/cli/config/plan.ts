import { isDeepStrictEqual } from 'node:util';
import JSON5 from 'json5';
import { KernelError, nearest } from '../../../kernel/index.ts';
import { type Held, held, keysOf, type Layers, placeIn, type Source, type Tree, valueAt } from './layers.ts';
import { pathText, type Step } from './path.ts';
import { applySplices, insertPart, removePart, replaceValue, type Splice } from './splice.ts';

/** An edit of one file, not made yet. */
export interface Plan {
  readonly file: string;
  readonly before: string;
  readonly after: string;
  /** The path as errors print it: `[main]` and `[+]` are indexes by now. */
  readonly path: string;
}

/** As far as a path is written. */
export interface Reached {
  readonly layers: Layers;
  /** Names and indexes of what is there. */
  readonly keys: readonly string[];
  /** What is not. */
  readonly rest: readonly Step[];
  /** The last member or element on the way, in each file that has it. */
  readonly held: readonly Held[];
}

export function follow(tree: Tree, steps: readonly Step[]): Reached {
  let at: Reached = { layers: tree.root, keys: [], rest: steps, held: [] };
  for (const [i, step] of steps.entries()) {
    const key = keyIn(tree, at.layers, step, pathText(at.keys));
    const next = key === undefined ? undefined : tree.child(at.layers, key);
    if (key === undefined || !next) return at;
    at = { layers: next, keys: [...at.keys, key], rest: steps.slice(i + 1), held: held(at.layers, key) };
  }
  return at;
}

/** In a list, `[main]` is the element of that id. */
function keyIn(tree: Tree, layers: Layers, { key }: Step, path: string): string | undefined {
  if (layers[0].node.kind !== 'list' || /^\d+$/.test(key) || key === '+') return key;
  const ids = keysOf(layers).map((index) => idOf(tree, tree.child(layers, index)));
  const index = ids.indexOf(key);
  if (index >= 0) return String(index);
  const near = nearest(
    key,
    ids.filter((id) => id !== undefined),
  );
  const cure = near ? `did you mean "${near}"?` : 'name an index, or [+] for a new one';
  throw new KernelError('CONFIG_PATH', `${path} has no element whose id is "${key}"; ${cure}`);
}

function idOf(tree: Tree, element: Layers | undefined): string | undefined {
  const id = element && element[0].node.kind === 'object' ? tree.child(element, 'id') : undefined;
  const value = id && valueAt(tree, id);
  return typeof value === 'string' ? value : undefined;
}

/** Sets a value in the file that owns it. */
export function planSet(tree: Tree, steps: readonly Step[], value: unknown): Plan {
  const { layers, keys, rest } = follow(tree, steps);
  const { source, node, keys: local } = layers.at(-1) ?? layers[0];
  const [first, ...deeper] = rest;
  if (!first) return planned(source, replaceValue(source, node, value), keys, local, { set: value });
  refuseInclude(steps);
  if (node.kind === 'leaf') {
    const what = `${pathText(keys)} (${placeIn(source, node.start)}) holds a single value, so that it has no "${first.key}" within`;
    throw new KernelError('CONFIG_PATH', `${what}; set it as a whole`);
  }
  const index = node.kind === 'list' ? newIndex(layers, first, pathText(keys)) : undefined;
  const wrapped = deeper.reduceRight<unknown>((inner, step) => wrap(inner, step), value);
  const splices = insertPart(source, node, index === undefined ? first.key : undefined, wrapped);
  const path = [...keys, String(index ?? first.key), ...deeper.map(({ key }) => (key === '+' ? '0' : key))];
  return planned(source, splices, path, [...local, node.kind === 'list' ? String(node.parts.length) : first.key], { set: wrapped });
}

/** Lists grow by one at their end. */
function newIndex(layers: Layers, { key }: Step, path: string): number {
  const { length } = keysOf(layers);
  if (key === '+' || key === String(length)) return length;
  throw new KernelError('CONFIG_PATH', `${path} has ${length} elements, so that there is no [${key}]; [+] is a new one at its end`);
}

/** `[0]` and `[+]` begin a list. */
function wrap(inner: unknown, { key, isBare }: Step): unknown {
  if (!isBare) return { [key]: inner };
  if (key === '+' || key === '0') return [inner];
  throw new KernelError('CONFIG_PATH', `there is no list yet that could have [${key}]; [+] begins one, ["${key}"] is a key of that name`);
}

/** Takes a member or an element out of the file whose value counts; undefined where there is none. */
export function planUnset(tree: Tree, steps: readonly Step[]): Plan | undefined {
  refuseInclude(steps);
  const reached = follow(tree, steps);
  const last = reached.held.at(-1);
  if (reached.rest.length > 0 || !last) return undefined;
  const { source, into, keys: local } = last;
  const same = into.parts.filter(({ key }) => key === last.part.key); // written twice, the first would now count
  const splices = same.flatMap((part) => removePart(source, into, part));
  const isWithin = (a: Splice, b: Splice) => b.start <= a.start && a.end <= b.end;
  const apart = splices.filter(
    (one, i) => !splices.some((other, j) => i !== j && isWithin(one, other) && (j < i || !isWithin(other, one))),
  );
  return planned(source, apart, reached.keys, local, 'unset');
}

function refuseInclude(steps: readonly Step[]) {
  if (!steps.some(({ key }) => key === '$include')) return;
  throw new KernelError('CONFIG_PATH', 'what is included where is not changed by a path; "instar config edit" opens the file');
}

/** No edit may change more than it says: the text is read again, and compared. */
function planned(
  source: Source,
  splices: readonly Splice[],
  keys: readonly string[],
  local: readonly string[],
  change: { set: unknown } | 'unset',
): Plan {
  const { file, text: before } = source;
  const after = applySplices(before, splices);
  const path = pathText(keys);
  const wanted = changed(JSON5.parse(before), local, change);
  if (isDeepStrictEqual(readBack(after), wanted)) return { file, before, after, path };
  throw new KernelError('CONFIG_EDIT', `${file} is not of a form in which ${path} can be changed safely; change it by hand`);
}

function changed(value: unknown, [key, ...rest]: readonly string[], change: { set: unknown } | 'unset'): unknown {
  if (key === undefined) return change === 'unset' ? undefined : change.set;
  const isLast = rest.length === 0;
  if (Array.isArray(value)) {
    const index = Number(key);
    return isLast && change === 'unset' ? value.toSpliced(index, 1) : value.toSpliced(index, 1, changed(value[index], rest, change));
  }
  const { [key]: old, ...others } = value as Readonly<Record<string, unknown>>;
  return isLast && change === 'unset' ? others : { ...others, [key]: changed(old, rest, change) };
}

function readBack(text: string): unknown {
  try {
    return JSON5.parse(text);
  } catch {
    return undefined; // no edit of ours may do that: refused by whoever compares
  }
}

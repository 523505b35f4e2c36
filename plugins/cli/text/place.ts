import { createRequire } from 'node:module';
import type { AnyNode } from '@humanwhocodes/momoa';

/** Where a value stands; objects and lists of a placed tree carry it themselves, so that merging keeps it. */
const place = Symbol('place');

/** Any other value of a placed tree. */
export class Leaf {
  readonly value: unknown;
  readonly [place]: string;
  constructor(value: unknown, at: string) {
    this.value = value;
    this[place] = at;
  }
}

export const placeOf = (value: unknown) => (value as { [place]?: string } | null | undefined)?.[place];

const require = createRequire(import.meta.url);

/** The same tree as `values`, each value with the `file:line:column` of its key. */
export function parsePlaced(text: string, file: string, values: unknown): unknown {
  const { parse } = require('@humanwhocodes/momoa') as typeof import('@humanwhocodes/momoa');
  try {
    return placed(parse(text, { mode: 'json5' }).body, file);
  } catch {
    return values; // json5 read what the other parser does not: go on without places
  }
}

function placed(node: AnyNode, file: string, key: AnyNode = node): unknown {
  const at = `${file}:${key.loc.start.line}:${key.loc.start.column}`;
  if (node.type === 'Array') {
    return Object.assign(
      node.elements.map((element) => placed(element.value, file)),
      { [place]: at },
    );
  }
  if (node.type !== 'Object') return new Leaf('value' in node ? node.value : null, at);
  const members = node.members.map(({ name, value }) => [name.type === 'String' ? name.value : name.name, placed(value, file, name)]);
  return Object.assign(Object.fromEntries(members), { [place]: at });
}

/** The place of a config path such as `a.list[0]["odd key"]`, or of the part of it that is written. */
export function locate(tree: unknown, path: string): string | undefined {
  let found: string | undefined;
  let at = tree;
  for (const [part, quoted] of path.matchAll(/\[("(?:[^"\\]|\\.)*")\]|[^.[\]]+/g)) {
    const key = quoted ? (JSON.parse(quoted) as string) : part;
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) break;
    at = (at as Record<string, unknown>)[key];
    found = placeOf(at) ?? found;
  }
  return found;
}

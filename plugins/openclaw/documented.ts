import type { Keys } from './finding.ts';
import table from './keys.json' with { type: 'json' };

/** How a documented key is treated where no plugin of ours reads it. */
export interface Treatment {
  readonly why?: string;
  /** It restricts an agent there, and does not here. */
  readonly loosens?: boolean;
  /** A plugin that knows the form of the key and does not read it. */
  readonly heldBy?: string;
}

interface Table {
  readonly groups: readonly (Treatment & { readonly at: string | readonly string[]; readonly keys: string })[];
  readonly values: readonly { readonly at: string; readonly is: readonly string[]; readonly why: string }[];
  readonly apis: readonly string[];
  readonly moves: readonly {
    readonly from: string;
    readonly to: string;
    readonly isOld?: boolean;
    readonly where?: readonly [string, string];
  }[];
}

/** A documented key, or a part of the way to some. */
export interface Node {
  readonly below: Map<string, Node>;
  /** Whatever lies below is treated the same. */
  isOpen: boolean;
  treatment?: Treatment;
}

const node = (): Node => ({ below: new Map(), isOpen: false });
export const { groups, values, apis, moves } = table as unknown as Table;

/** The documented keys as a tree, made at the first look. */
let tree: Node | undefined;
const root = () => (tree ??= grow());

function grow(): Node {
  const top = node();
  for (const { at, keys, ...treatment } of groups) {
    for (const start of [at].flat())
      for (const key of keys.split(' ').filter(Boolean)) plant(top, [start, key].filter(Boolean).join('.'), treatment);
  }
  return top;
}

function plant(top: Node, path: string, treatment: Treatment) {
  let at = top;
  for (const key of path.split('.')) {
    if (key === '**') at.isOpen = true;
    else at = at.below.get(key) ?? (at.below.set(key, node()).get(key) as Node);
  }
  at.treatment ??= treatment;
}

/** What is documented at a path; undefined where nothing is. */
export function documented(keys: Keys): Node | undefined {
  let at: Node | undefined = root();
  for (const key of keys) {
    const next: Node | undefined = at.below.get(key) ?? at.below.get('*');
    if (!next) return at.isOpen ? at : undefined;
    at = next;
  }
  return at;
}

/** Of a key that is only a part of the way, the first below it speaks. */
export function treatmentOf({ treatment, below }: Node): Treatment {
  if (treatment) return treatment;
  const [first] = below.values();
  return first ? treatmentOf(first) : {};
}

/** Every documented path, with `*` and `**` as in the table. */
export function documentedPaths(at = root(), path = ''): readonly string[] {
  const inner = [...at.below].flatMap(([key, next]) => documentedPaths(next, path ? `${path}.${key}` : key));
  return at.treatment ? [at.isOpen ? `${path}.**` : path, ...inner] : inner;
}

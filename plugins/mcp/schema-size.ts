import type { JsonSchema } from '../../kernel/index.ts';

type Part = Readonly<Record<string, unknown>>;

/** Parts that are judged in a check of one value, with what `$ref` leads to at each place that refers to it. */
const maxParts = 10_000;

/**
 * Why a check of arguments could take for ever: a schema of 2 KB can refer to its parts so that each doubles the next, and one that
 * refers to itself twice for the same value doubles with each level of the arguments.
 */
export function endless(schema: JsonSchema): string | undefined {
  const walk = new Walk(schema);
  return walk.unfold(schema, 0) ?? (walk.isRecursive ? doubling(walk.units, schema) : undefined);
}

class Walk {
  /** What begins to judge a value: the whole, and what lies below a property or an item. */
  readonly units: Set<Part>;
  isRecursive = false;
  readonly #root: Part;
  /** From the whole to here, and how many properties and items deep each was entered. */
  readonly #open = new Map<Part, number>();
  readonly #parts = new Map<Part, { readonly beside: readonly Part[]; readonly below: readonly Part[] }>();
  #count = 0;

  constructor(root: Part) {
    this.#root = root;
    this.units = new Set([root]);
  }

  /** What is wrong with a part, at such a depth. */
  unfold(part: Part, depth: number): string | undefined {
    const entered = this.#open.get(part);
    if (entered === depth) return 'its parameters refer to themselves without end';
    if (entered !== undefined) {
      this.isRecursive = true;
      return undefined;
    }
    if (++this.#count > maxParts) return `its parameters have more than ${maxParts} parts, with those that are referred to`;
    this.#open.set(part, depth);
    const { beside, below } = this.#within(part);
    for (const other of beside) {
      const fault = this.unfold(other, depth);
      if (fault !== undefined) return fault;
    }
    for (const child of below) {
      const fault = this.unfold(child, depth + 1);
      if (fault !== undefined) return fault;
    }
    this.#open.delete(part);
    return undefined;
  }

  #within(part: Part) {
    const known = this.#parts.get(part);
    if (known) return known;
    const made = { beside: besideOf(part, this.#root), below: [...belowOf(part).values()].flat() };
    for (const child of made.below) this.units.add(child);
    this.#parts.set(part, made);
    return made;
  }
}

/** Whether some value is judged twice by what comes back to the same: then one below it is four times, and so on. */
function doubling(units: ReadonlySet<Part>, root: Part): string | undefined {
  const places = new Map([...units].map((unit) => [unit, placesOf(unit, root)]));
  const reach = (from: Part) => {
    const found = new Set([from]);
    for (const unit of found) for (const child of (places.get(unit) ?? []).flat()) found.add(child);
    return found;
  };
  const reached = new Map([...units].map((unit) => [unit, reach(unit)]));
  const isTwice = [...places].some(([unit, below]) => below.some((all) => all.filter((child) => reached.get(child)?.has(unit)).length > 1));
  return isTwice ? 'its parameters refer to themselves more than once for the same value, and take ever longer to check' : undefined;
}

/** For each place below the value that a unit judges, what judges it there. */
function placesOf(unit: Part, root: Part): readonly (readonly Part[])[] {
  const all = together(unit, root).map(belowOf);
  const names = new Set(all.flatMap((below) => [...below.keys()]));
  return [...names].map((name) => all.flatMap((below) => below.get(name) ?? below.get(name[0] ?? '') ?? []));
}

const together = (part: Part, root: Part): readonly Part[] => [part, ...besideOf(part, root).flatMap((other) => together(other, root))];

const partsOf = (value: unknown): readonly Part[] => (isPart(value) ? [value] : Array.isArray(value) ? value.filter(isPart) : []);
const namedIn = (value: unknown): readonly (readonly [string, Part])[] =>
  isPart(value) ? Object.entries(value).filter((entry): entry is [string, Part] => isPart(entry[1])) : [];

/** What judges the same value. */
function besideOf(part: Part, root: Part): readonly Part[] {
  const { allOf, anyOf, oneOf, not, if: when, then, else: other, dependentSchemas, dependencies, $ref } = part;
  const named = [dependentSchemas, dependencies].flatMap((all) => namedIn(all).map(([, one]) => one));
  return [...[allOf, anyOf, oneOf, not, when, then, other].flatMap(partsOf), ...named, ...partsOf(target($ref, root))];
}

/** By place: `.name` of a property, `[0]` of an item, `.` and `[` for all that are not named. */
function belowOf(part: Part): ReadonlyMap<string, readonly Part[]> {
  const {
    properties,
    additionalProperties,
    unevaluatedProperties,
    propertyNames,
    items,
    prefixItems,
    additionalItems,
    unevaluatedItems,
    contains,
  } = part;
  const first = [prefixItems, items].find(Array.isArray) ?? [];
  const other = [additionalItems, unevaluatedItems, contains, ...(Array.isArray(items) ? [] : [items])];
  return new Map<string, readonly Part[]>([
    ['.', [additionalProperties, unevaluatedProperties, propertyNames].flatMap(partsOf)],
    ['[', other.flatMap(partsOf)],
    ...namedIn(properties).map(([name, one]) => [`.${name}`, [one]] as const),
    ...first.map((one: unknown, i) => [`[${i}]`, [one, contains].flatMap(partsOf)] as const),
  ]);
}

/** As a validator finds it. */
function target(ref: unknown, root: Part): unknown {
  if (typeof ref !== 'string') return undefined;
  const steps = ref
    .split('/')
    .slice(1)
    .map((step) => decoded(step).replaceAll('~1', '/').replaceAll('~0', '~'));
  return steps.reduce<unknown>(
    (at, step) => (typeof at === 'object' && at !== null && Object.hasOwn(at, step) ? (at as Part)[step] : undefined),
    root,
  );
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step; // no validator finds it
  }
}

const isPart = (value: unknown): value is Part => typeof value === 'object' && value !== null && !Array.isArray(value);

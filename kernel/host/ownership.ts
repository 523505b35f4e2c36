import type { Check, Slices, Values } from '../kernel.ts';
import { messageOf } from '../error.ts';
import { nearest } from './nearest.ts';
import type { Around, Plugin } from '../plugin.ts';
import type { JsonSchema } from '../points.ts';
import { type ConfigText, joinKey } from './contract.ts';
import { ConfigError, type Finding, type Problem, problemText, validate } from './schema.ts';

/** What the kernel is given to check with. */
export const check: Check = {
  nearest,
  slice: sliceConfig,
  error: (faults) => new ConfigError(faults),
  args: (schema, args) =>
    validate(schema, args)
      .map((problem) => problemText(problem))
      .join('; '),
};

/** Keys that belong to the text itself or to the host. */
const reserved = ['$schema', 'plugins'];

export const pathOf = (plugin: Plugin) => plugin.config?.at ?? `plugins.entries.${plugin.name}.config`;

/** What a config may hold beside what the live plugins own. */
interface Aside {
  /** Plugins that are switched off: their keys are known. */
  readonly off: readonly Plugin[];
  /** Some plugin could not be loaded: a key that nobody else owns may be its own. */
  readonly hasLost: boolean;
  readonly unset: ConfigText['problems'];
  readonly around: Omit<Around, 'config'>;
}

/** Cuts the config into what each plugin owns, with defaults, and checks it. What lies at the paths of `others` is not looked at. */
export function sliceConfig(
  config: Values,
  plugins: readonly Plugin[],
  others: readonly string[],
  { off, hasLost, unset, around }: Aside = { off: [], hasLost: false, unset: [], around: { home: '', place: (path) => path } },
): Slices {
  const owners = plugins.filter((plugin) => plugin.config);
  const paths = [...owners.map(pathOf), ...others, ...off.map(pathOf)];
  const slices = new Map<string, unknown>();
  const faults: Problem[] = hasLost ? [] : strangers(config, [], paths);
  const within = (path: string, at: string) => path === at || path.startsWith(`${at}.`);
  const ownerOf = (path: string) => paths.filter((at) => within(path, at)).toSorted((a, b) => b.length - a.length)[0];
  for (const plugin of owners) {
    const at = pathOf(plugin);
    const value = structuredClone(without(dig(config, at.split('.')), at, paths) ?? blankOf(plugin.config?.schema));
    slices.set(plugin.name, value);
    if (value === undefined) continue;
    try {
      const own = unset.filter(({ keys }) => ownerOf(keys.join('.')) === at && dig(config, keys) !== undefined);
      const missing = own.map((one) => ({ ...one, keys: one.keys.slice(at.split('.').length) }));
      const told = plugin.config?.faults?.(value, { ...around, config }) ?? [];
      const semantic = told.map((one) => ({ ...one, keys: [] }));
      const schema = withFragments(plugin.config?.schema ?? {}, [...owners, ...off]);
      faults.push(...faultsIn(plugin, value, schema, [...missing, ...semantic]));
    } catch (cause) {
      const message = `the schema or the faults of plugin "${plugin.name}" cannot be used: ${messageOf(cause)}`;
      faults.push({ path: at, message, plugin: plugin.name, block: plugin.name });
    }
  }
  return { slices, faults };
}

/** What nobody wrote: an empty list or object, whose defaults are filled in, else the schema's own default. */
const blankOf = ({ default: usual, type }: JsonSchema = {}): unknown => {
  if (usual !== undefined) return usual;
  return type === 'array' ? [] : plainTypes.includes(type) ? undefined : {};
};
const plainTypes: readonly unknown[] = ['string', 'number', 'integer', 'boolean'];

/** Checks a plugin's part, fills in its defaults, and takes out of it the blocks of an `x-contained` map that are faulty. */
function faultsIn(plugin: Plugin, value: unknown, schema: JsonSchema, missing: readonly Finding[]): Problem[] {
  const at = pathOf(plugin);
  const found = validate(schema, value, at).filter(({ path }) => !missing.some((one) => one.path === path));
  return [...missing, ...found].map(({ keys, ...problem }) => {
    const block = containedIn(schema, keys);
    if (block) delete (dig(value, block.slice(0, -1)) as Record<string, unknown>)[block.at(-1) ?? ''];
    return { ...problem, plugin: plugin.name, block: plugin.config?.at ? block?.reduce(joinKey, at) : plugin.name };
  });
}

const dig = (value: unknown, keys: readonly string[]) => keys.reduce<unknown>((at, key) => (at as Values | undefined)?.[key], value);

/** The value at `at`, less what others own below it. */
function without(value: unknown, at: string, paths: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null || !paths.some((path) => path.startsWith(`${at}.`))) return value;
  const own = Object.entries(value).filter(([key]) => !paths.includes(`${at}.${key}`));
  return Object.fromEntries(own.map(([key, inner]) => [key, without(inner, `${at}.${key}`, paths)]));
}

/** Keys that nobody owns, above the owned paths. */
function strangers(value: Values, at: readonly string[], paths: readonly string[]): Problem[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    const keys = [...at, key];
    const path = keys.join('.');
    if (paths.includes(path) || (at.length === 0 && reserved.includes(key))) return [];
    const below = paths.some((owned) => owned.startsWith(`${path}.`));
    if (below && typeof inner === 'object' && inner !== null) return strangers(inner as Values, keys, paths);
    const known = paths.map((owned) => owned.split('.')[at.length] ?? '').concat(at.length ? [] : reserved);
    return [{ path: keys.reduce(joinKey, ''), message: `unknown key "${key}"`, nearest: nearest(key, known) }];
  });
}

const whole = new WeakMap<JsonSchema, readonly [key: readonly JsonSchema[], schema: JsonSchema]>();

/** A plugin's schema with the properties that others add at the places it opened with `x-place`. One object while they stay: it is compiled once. */
export function withFragments(schema: JsonSchema, owners: readonly Plugin[]): JsonSchema {
  const fragments = owners.flatMap((owner) => Object.entries(owner.config?.extends ?? {}));
  const parts = fragments.map(([, properties]) => properties);
  const [key, known] = whole.get(schema) ?? [];
  if (known && key?.length === parts.length && parts.every((part, i) => part === key[i])) return known;
  if (parts.length === 0 || !JSON.stringify(schema).includes('"x-place"')) return schema;
  const composed: JsonSchema = JSON.parse(JSON.stringify(schema), (_, node) => {
    const added = fragments.filter(([place]) => node?.['x-place'] === place).map(([, properties]) => properties);
    return added.length ? { ...node, properties: Object.assign({}, node.properties, ...added) } : node;
  });
  whole.set(schema, [parts, composed]);
  return composed;
}

/** The keys of the block of an `x-contained` map that a fault lies in. */
function containedIn(schema: JsonSchema, keys: readonly string[]): readonly string[] | undefined {
  let node: JsonSchema | undefined = schema;
  for (const [i, key] of keys.entries()) {
    if (node?.['x-contained']) return keys.slice(0, i + 1);
    const properties = node?.['properties'] as Record<string, JsonSchema> | undefined;
    node = properties?.[key] ?? (node?.['additionalProperties'] as JsonSchema | undefined);
  }
  return undefined;
}

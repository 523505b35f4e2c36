import type { Check, Slices, Values } from '../kernel.ts';
import { messageOf } from '../error.ts';
import { nearest } from '../nearest.ts';
import type { Plugin } from '../plugin.ts';
import type { JsonSchema } from '../points.ts';
import { ConfigError, joinKey, type Problem, problemText, validate } from './schema.ts';

/** What the kernel is given to check with. */
export const check: Check = {
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

/** Cuts the config into what each plugin owns, with defaults, and checks it. `dormant` paths are not looked at. */
export function sliceConfig(config: Values, plugins: readonly Plugin[], dormant: readonly string[]): Slices {
  const owners = plugins.filter((plugin) => plugin.config);
  const paths = [...owners.map(pathOf), ...dormant];
  const slices = new Map<string, unknown>();
  const faults: Problem[] = strangers(config, [], paths);
  for (const plugin of owners) {
    const at = pathOf(plugin);
    const value = structuredClone(without(dig(config, at.split('.')), at, paths)) ?? {};
    slices.set(plugin.name, value);
    try {
      faults.push(...faultsIn(plugin, value, withFragments(plugin.config?.schema ?? {}, owners)));
    } catch (cause) {
      const message = `the schema of plugin "${plugin.name}" cannot be used: ${messageOf(cause)}`;
      faults.push({ path: at, message, plugin: plugin.name, block: plugin.name });
    }
  }
  return { slices, faults };
}

/** Checks a plugin's part, fills in its defaults, and takes out of it the blocks of an `x-contained` map that are faulty. */
function faultsIn(plugin: Plugin, value: unknown, schema: JsonSchema): Problem[] {
  const at = pathOf(plugin);
  return validate(schema, value, at).map(({ keys, ...problem }) => {
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

import { KernelError } from './error.ts';
import { nearest } from './nearest.ts';
import type { Plugin } from './plugin.ts';
import type { JsonSchema } from './points.ts';
import { joinKey, type Problem, validate } from './schema.ts';

export type Values = Readonly<Record<string, unknown>>;

/** A fault, with the block that can be left out alone for it: a plugin's own entry, or one of a map marked `x-contained`. */
export interface Fault extends Problem {
  readonly plugin?: string;
  readonly block?: string | undefined;
}

/** Keys that belong to the text itself or to the host. */
const reserved = ['$schema', 'plugins'];

export const pathOf = (plugin: Plugin) => plugin.config?.at ?? `plugins.entries.${plugin.name}.config`;

/** Cuts the config into what each plugin owns, with defaults, and checks it. `dormant` paths are not looked at. */
export function sliceConfig(config: Values, plugins: readonly Plugin[], dormant: readonly string[]) {
  const owners = plugins.filter((plugin) => plugin.config);
  const owned = owners.map(pathOf);
  const paths = [...owned, ...dormant];
  const twice = owned.find((path, i) => owned.indexOf(path) !== i);
  if (twice) throw new KernelError('CONFIG_OWNED_TWICE', `config path "${twice}" is declared by two plugins`);
  const slices = new Map<string, unknown>();
  const faults: Fault[] = strangers(config, [], paths);
  for (const plugin of owners) {
    const at = pathOf(plugin);
    const schema = withFragments(plugin.config?.schema ?? {}, owners);
    const value = structuredClone(without(dig(config, at.split('.')), at, paths)) ?? {};
    for (const problem of validate(schema, value, at)) {
      const keys = plugin.config?.at === undefined ? [] : blockOf(schema, problem.keys ?? []);
      if (keys?.length) delete (dig(value, keys.slice(0, -1)) as Record<string, unknown>)[keys.at(-1) as string];
      faults.push({ ...problem, plugin: plugin.name, block: keys?.reduce(joinKey, at) });
    }
    slices.set(plugin.name, value);
  }
  return { slices, faults };
}

const dig = (value: unknown, keys: readonly string[]) =>
  keys.reduce<unknown>((at, key) => (at as Values | undefined)?.[key], value);

/** The value at `at`, less what others own below it. */
function without(value: unknown, at: string, paths: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null || !paths.some((path) => path.startsWith(`${at}.`))) return value;
  const own = Object.entries(value).filter(([key]) => !paths.includes(`${at}.${key}`));
  return Object.fromEntries(own.map(([key, inner]) => [key, without(inner, `${at}.${key}`, paths)]));
}

/** Keys that nobody owns, above the owned paths. */
function strangers(value: Values, at: readonly string[], paths: readonly string[]): Fault[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    const keys = [...at, key];
    const path = keys.join('.');
    if (paths.includes(path) || (at.length === 0 && reserved.includes(key))) return [];
    const below = paths.some((owned) => owned.startsWith(`${path}.`));
    if (below && typeof inner === 'object' && inner !== null) return strangers(inner as Values, keys, paths);
    const known = paths.map((owned) => owned.split('.')[at.length] ?? '').concat(at.length ? [] : reserved);
    return [{ keys, path: keys.reduce(joinKey, ''), message: `unknown key "${key}"`, nearest: nearest(key, known) }];
  });
}

/** A plugin's schema with the properties that others add at the places it opened with `x-place`. */
export function withFragments(schema: JsonSchema, owners: readonly Plugin[]): JsonSchema {
  const fragments = owners.flatMap((owner) => Object.entries(owner.config?.extends ?? {}));
  if (fragments.length === 0 || !JSON.stringify(schema).includes('"x-place"')) return schema;
  return JSON.parse(JSON.stringify(schema), (_, node) => {
    const added = fragments.filter(([place]) => node?.['x-place'] === place).map(([, properties]) => properties);
    return added.length ? { ...node, properties: Object.assign({}, node.properties, ...added) } : node;
  });
}

/** The keys of the block of an `x-contained` map that a fault lies in. */
function blockOf(schema: JsonSchema, keys: readonly string[]): readonly string[] | undefined {
  let node: JsonSchema | undefined = schema;
  for (const [i, key] of keys.entries()) {
    if (node?.['x-contained']) return keys.slice(0, i + 1);
    node = ((node?.properties as JsonSchema | undefined)?.[key] ?? node?.additionalProperties) as
      | JsonSchema
      | undefined;
  }
  return undefined;
}

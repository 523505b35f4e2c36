import { pathOf, withFragments } from '../../kernel/host/ownership.ts';
import type { JsonSchema, Plugin } from '../../kernel/index.ts';

/** One key of the config. */
export interface Key {
  /** `agents.list[].model`, `models.providers.<name>.baseUrl`. */
  readonly path: string;
  readonly schema: JsonSchema;
  /** Whose schema has it: the owner of the place, or who extends it. */
  readonly plugin: string;
}

/** All keys of the place that a plugin owns, those included that others add to it. */
export function keysOf(owner: Plugin, plugins: readonly Plugin[]): readonly Key[] {
  const found = new Map<string, Key>();
  const schema = withFragments(
    owner.config?.schema ?? {},
    plugins.filter((plugin) => plugin.config),
  );

  function walk(node: JsonSchema, path: string, plugin: string) {
    for (const [name, inner] of Object.entries(partsOf(node['properties']))) {
      const key = { path: `${path}.${name}`, schema: inner, plugin: adderOf(node, name) ?? plugin };
      if (!found.has(key.path)) found.set(key.path, key);
      walk(inner, key.path, key.plugin);
    }
    if (isSchema(node['items'])) walk(node['items'], `${path}[]`, plugin);
    if (isSchema(node['additionalProperties'])) walk(node['additionalProperties'], `${path}.<name>`, plugin);
    for (const variant of variantsOf(node)) walk(variant, path, plugin);
  }

  const adderOf = ({ 'x-place': place }: JsonSchema, name: string) =>
    plugins.findLast(({ config }) => name in (config?.extends?.[place as string] ?? {}))?.name;
  walk(schema, pathOf(owner), owner.name);
  return [...found.values()];
}

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null && !Array.isArray(value);
const partsOf = (value: unknown) => (value ?? {}) as Readonly<Record<string, JsonSchema>>;

/** Where a value may be one of several shapes. */
export const variantsOf = (node: JsonSchema): readonly JsonSchema[] =>
  ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => (node[keyword] ?? []) as readonly JsonSchema[]);

/** The plugins that an edit of this one's config rebuilds after it: those that need it, and those that need these. */
export function dependentsOf(name: string, plugins: readonly Plugin[]): readonly string[] {
  const provided = (plugin: string) => plugins.find((one) => one.name === plugin)?.provides?.map(({ id }) => id) ?? [];
  const found = new Set([name]);
  for (const one of found)
    for (const { name: other, needs = {} } of plugins)
      if (Object.values(needs).some(({ id }) => provided(one).includes(id))) found.add(other);
  return [...found].slice(1);
}

/** A type in few words: `integer ≥ 1`, `list of string`, `"a" or "b"`. */
export function typeText(node: JsonSchema): string {
  const { enum: values, const: value, type, items, additionalProperties: rest } = node;
  if (Array.isArray(values)) return values.map((one) => JSON.stringify(one)).join(' or ');
  if (value !== undefined) return JSON.stringify(value);
  const variants = variantsOf(node);
  if (variants.length) return [...new Set(variants.map(typeText))].join(' or ');
  if (Array.isArray(type)) return type.join(' or ');
  if (type === 'array') return isSchema(items) ? `list of ${typeText(items)}` : 'list';
  if (type === 'object') return isSchema(rest) ? `map of ${typeText(rest)}` : 'object';
  return `${typeof type === 'string' ? type : 'any'}${limitsOf(node)}`;
}

function limitsOf(node: JsonSchema): string {
  const { minimum, maximum, exclusiveMinimum } = node as Readonly<Record<string, number | undefined>>;
  if (minimum !== undefined && maximum !== undefined) return ` ${minimum}–${maximum}`;
  if (minimum !== undefined) return ` ≥ ${minimum}`;
  if (exclusiveMinimum !== undefined) return ` > ${exclusiveMinimum}`;
  return maximum === undefined ? '' : ` ≤ ${maximum}`;
}

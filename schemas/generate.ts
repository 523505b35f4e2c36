/** Composes `config.schema.json` from what every bundled plugin declares. `npm run schema` writes it; a test finds drift. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pluginsSchema } from '../kernel/host/discovery.ts';
import type { JsonSchema, Plugin } from '../kernel/index.ts';
import { pathOf, withFragments } from '../kernel/host/ownership.ts';
import { bundledPlugins } from '../plugins/testing/kit.ts';

type Node = Record<string, unknown> & { properties: Record<string, Node> };

export const schemaFile = join(import.meta.dirname, 'config.schema.json');

export async function configSchema(): Promise<string> {
  const plugins = await bundledPlugins();
  const named = object(Object.fromEntries(plugins.map((plugin) => [plugin.name, entryOf(plugin)])));
  const entries = { ...named, description: 'By plugin name', additionalProperties: entry({}) };
  const properties = { ...structuredClone(pluginsSchema.properties), entries };
  const root = object({ $schema: { type: 'string' }, plugins: { ...pluginsSchema, properties } });
  const owners = plugins.filter((plugin) => plugin.config).toSorted((a, b) => pathOf(a).length - pathOf(b).length); // parents first
  const marked = plugins.map(withOwnerMarks);
  for (const plugin of owners) place(root, pathOf(plugin).split('.'), { 'x-plugin': plugin.name, ...composed(plugin, marked) });
  const head = { $schema: 'http://json-schema.org/draft-07/schema#', title: 'Instar config', ...root };
  return `${JSON.stringify(head, withUsual, 1)}\n`;
}

/** `x-default` is a default that no check fills in; for editors and docs it is one. */
function withUsual(_key: string, node: unknown): unknown {
  if (typeof node !== 'object' || node === null || !('x-default' in node)) return node;
  const { 'x-default': usual, ...rest } = node;
  return { ...rest, default: usual };
}

const object = (properties: object) => ({ type: 'object', additionalProperties: false, properties }) as unknown as Node;
const entry = (config: object) => object({ enabled: { type: 'boolean', default: true }, config });
const entryOf = (plugin: Plugin) => ({ ...entry({}), description: plugin.description });
const composed = (plugin: Plugin, owners: readonly Plugin[]): JsonSchema => withFragments(plugin.config?.schema ?? {}, owners);

/** `x-plugin` says whose a key is: that of the nearest node above counts. */
function withOwnerMarks(plugin: Plugin): Plugin {
  const mark = (node: JsonSchema) => ({ 'x-plugin': plugin.name, ...node });
  const places = Object.entries(plugin.config?.extends ?? {});
  const added = places.map(([at, keys]) => [at, Object.fromEntries(Object.entries(keys).map(([key, node]) => [key, mark(node as JsonSchema)]))]);
  return { ...plugin, ...(plugin.config && { config: { ...plugin.config, extends: Object.fromEntries(added) } }) };
}

/** Puts a plugin's schema where its values lie; a path of another plugin leads there. */
function place(root: Node, [key = '', ...rest]: readonly string[], schema: JsonSchema) {
  root.properties ??= {};
  if (rest.length === 0) root.properties[key] = { ...structuredClone(schema) } as Node;
  else place((root.properties[key] ??= object({})), rest, schema);
}

if (import.meta.main) {
  writeFileSync(schemaFile, await configSchema());
  console.log(`wrote ${schemaFile}`);
}

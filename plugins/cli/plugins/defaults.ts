import { basename, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { joinKey, type JsonSchema, type Plugin } from '../../../kernel/index.ts';
import type { LivePlugin } from '../../plugins-admin/contract.ts';
import { bundle } from '../bundle.ts';
import type { Setting } from './settings.ts';

/** The schema of a plugin's config, as its source has it now. */
export async function schemaOf({ plugin, source }: LivePlugin): Promise<JsonSchema> {
  const { config } = ((source === 'bundled' ? await ownPlugin(plugin) : (await bundle(source)).value) ?? {}) as Partial<Plugin>;
  return config?.schema ?? {};
}

async function ownPlugin(name: string): Promise<unknown> {
  const file = join(import.meta.dirname, '../..', basename(name), `index${extname(import.meta.filename)}`);
  const { default: plugin } = (await import(pathToFileURL(file).href)) as { default?: unknown };
  return plugin;
}

/** What the schema says where the text says nothing. */
export function defaultsOf(schema: JsonSchema, value: unknown, path: string): readonly Setting[] {
  if (value === undefined) return unset(schema, path);
  const isList = Array.isArray(value);
  if (typeof value !== 'object' || value === null) return [];
  const properties = (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>;
  const others = (isList ? schema.items : schema.additionalProperties) as JsonSchema | boolean | undefined;
  const keys = new Set([...Object.keys(value), ...(isList ? [] : Object.keys(properties))]);
  return [...keys].flatMap((key) => {
    const inner = (isList ? undefined : properties[key]) ?? others;
    const set = (value as Readonly<Record<string, unknown>>)[key];
    return typeof inner === 'object' ? defaultsOf(inner, set, joinKey(path, key)) : [];
  });
}

/** An object's own default may leave the rest to those of its properties; without one they do not apply. */
function unset(schema: JsonSchema, path: string): readonly Setting[] {
  const usual = schema.default;
  if (usual === undefined) return [];
  const isMap = typeof usual === 'object' && usual !== null && !Array.isArray(usual);
  const below = isMap ? defaultsOf(schema, usual, path) : [];
  const isEmpty = isMap && Object.keys(usual).length === 0;
  return isEmpty && below.length > 0 ? below : [{ path, value: usual, place: 'default', isDefault: true }, ...below];
}

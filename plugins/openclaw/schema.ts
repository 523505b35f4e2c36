import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonSchema } from '../../kernel/index.ts';
import { isObject } from './finding.ts';

/** The schema of the whole config as it ships: in a clone beside the sources, in a package above what is built. */
export function configSchema(): JsonSchema {
  const files = ['../../schemas', '../../../schemas'].map((folder) => join(import.meta.dirname, folder, 'config.schema.json'));
  return JSON.parse(readFileSync(files.find((file) => existsSync(file)) ?? files[0] ?? '', 'utf8')) as JsonSchema;
}

/** The branch of a union that a value of this form can be meant for. */
export function branchFor(schema: JsonSchema, value: unknown): JsonSchema {
  const branches = (schema['anyOf'] ?? schema['oneOf']) as readonly JsonSchema[] | undefined;
  if (!branches) return schema;
  const meant = branches.find((branch) => fits(branch, value)) ?? branches[0] ?? {};
  return branchFor({ 'x-plugin': schema['x-plugin'], ...meant }, value);
}

const fits = ({ type, properties }: JsonSchema, value: unknown) =>
  [type ?? (properties ? 'object' : undefined)].flat().includes(typeOf(value));

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return isObject(value) ? 'object' : typeof value;
}

/** What may lie at a key; undefined where the schema knows no such key. */
export function below(schema: JsonSchema, key: string): JsonSchema | undefined {
  const properties = schema['properties'] as Readonly<Record<string, JsonSchema>> | undefined;
  const { additionalProperties: others } = schema;
  if (properties && Object.hasOwn(properties, key)) return properties[key];
  if (isObject(others)) return others;
  return others === false ? undefined : {};
}

/** Any object will do: nobody has said yet what lies in it. */
export const isOpaque = (schema: JsonSchema) =>
  !schema['properties'] && !isObject(schema['additionalProperties']) && schema['additionalProperties'] !== false;

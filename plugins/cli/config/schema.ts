import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { joinKey, type JsonSchema, nearest } from '../../../kernel/index.ts';

/** One fault of a config's values. */
export interface Fault {
  readonly path: string;
  readonly message: string;
  /** A key that no plugin of ours has: one of the user's may. */
  readonly isStrange: boolean;
}

let composed: JsonSchema | undefined;

/** The composed schema of every bundled plugin: what a check can know while it runs nobody's code. Read once. */
export const readSchema = (): JsonSchema => (composed ??= read());

function read(): JsonSchema {
  const root = join(import.meta.dirname, '../../..');
  const file = [root, dirname(root)].map((folder) => join(folder, 'schemas/config.schema.json')).find((one) => existsSync(one));
  return JSON.parse(readFileSync(file ?? '', 'utf8')) as JsonSchema;
}

const options = { allErrors: true, verbose: true, strict: false, logger: false, meta: false, validateSchema: false } as const;
let validate: ValidateFunction | undefined;

/** All faults at once, by that schema. */
export async function faultsOf(values: unknown): Promise<readonly Fault[]> {
  const { Ajv } = await import('ajv');
  validate ??= new Ajv({ ...options, code: { optimize: false } }).compile(readSchema());
  return validate(values) ? [] : relevant(validate.errors ?? []).map(faultOf);
}

/** A failed choice reports each of its branches: what went deepest was meant. */
function relevant(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const choices = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  const dropped = choices.flatMap((choice) => {
    const branches = errors.filter((error) => error !== choice && error.schemaPath.startsWith(`${choice.schemaPath}/`));
    const deeper = branches.filter(
      (error) => error.instancePath.length > choice.instancePath.length || error.keyword === 'additionalProperties',
    );
    return deeper.length ? [choice, ...branches.filter((error) => !deeper.includes(error))] : branches;
  });
  return errors.filter((error) => !dropped.includes(error));
}

function faultOf({ keyword, instancePath, params, parentSchema, schema, message = 'does not fit' }: ErrorObject): Fault {
  const keys = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const path = keys.reduce(joinKey, '');
  switch (keyword) {
    case 'additionalProperties': {
      const key = String(params['additionalProperty']);
      const near = nearest(key, Object.keys((parentSchema?.['properties'] as object | undefined) ?? {}));
      return { path: joinKey(path, key), message: `unknown key "${key}"${near ? ` (did you mean "${near}"?)` : ''}`, isStrange: true };
    }
    case 'required':
      return { path, message: `"${params['missingProperty']}" is missing`, isStrange: false };
    case 'enum':
      return { path, message: `must be one of ${(params['allowedValues'] as unknown[]).map(String).join(', ')}`, isStrange: false };
    case 'anyOf':
    case 'oneOf': {
      const forms = (schema as JsonSchema[]).flatMap(typesOf);
      return { path, message: `must be ${[...new Set(forms)].join(' or ')}`, isStrange: false };
    }
    default:
      return { path, message, isStrange: false };
  }
}

/** What the schema says of a path, in each of the forms that may be there; an element of a list is any index, or `+`. */
export function schemaAt(schema: JsonSchema, keys: readonly string[]): readonly JsonSchema[] {
  const [key, ...rest] = keys;
  const branches = [schema['anyOf'], schema['oneOf'], schema['allOf']].flatMap((list) => (list ?? []) as readonly JsonSchema[]);
  if (key === undefined) return [schema, ...branches.flatMap((branch) => schemaAt(branch, keys))];
  const { properties, additionalProperties, items } = schema as Readonly<Record<string, unknown>>;
  const own = (properties as Readonly<Record<string, JsonSchema>> | undefined)?.[key];
  const inner = own ?? (/^(\d+|\+)$/.test(key) ? items : undefined) ?? additionalProperties;
  const below = typeof inner === 'object' && inner !== null ? schemaAt(inner as JsonSchema, rest) : [];
  return [...below, ...branches.flatMap((branch) => schemaAt(branch, keys))];
}

/** The JSON types that the config may have there; empty where no schema says. */
export function typesAt(schema: JsonSchema, keys: readonly string[]): readonly string[] {
  return [...new Set(schemaAt(schema, keys).flatMap(typesOf))];
}

function typesOf(schema: JsonSchema): readonly string[] {
  const values = [...((schema['enum'] as unknown[] | undefined) ?? []), ...('const' in schema ? [schema['const']] : [])];
  return [schema['type'] ?? values.map((value) => typeof value)].flat() as string[];
}

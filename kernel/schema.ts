import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { nearest } from './nearest.ts';
import type { JsonSchema } from './points.ts';

/** One fault at one place, as people write it: `agents.list[0].modle`. */
export interface Problem {
  readonly path: string;
  /** From the checked value to the fault. */
  readonly keys?: readonly string[];
  readonly message: string;
  readonly nearest?: string | undefined;
}

// Our own schemas need no check against the meta schema at every start; a test does that once.
const ajv = new Ajv({ ...{ allErrors: true, verbose: true, useDefaults: true, strict: false, logger: false }, meta: false, validateSchema: false, code: { optimize: false } });
const compiled = new WeakMap<JsonSchema, ValidateFunction>();

/** Checks a value that lies at `at` and fills in defaults, in place. Compiled once per schema object. */
export function validate(schema: JsonSchema, value: unknown, at = ''): readonly Problem[] {
  if (isEmpty(value) && onlyDefaults(schema, value)) return [];
  const check = compiled.get(schema) ?? ajv.compile(schema);
  compiled.set(schema, check);
  return check(value) ? [] : relevant(check.errors ?? []).map((error) => problemOf(error, at));
}

const isEmpty = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

/** The usual case at a start, where most plugins have no config: the defaults are all there is to do. */
function onlyDefaults({ type, required, properties = {}, ...rest }: JsonSchema, value: Record<string, unknown>): boolean {
  if (type !== 'object' || required || ['anyOf', 'oneOf', 'allOf', 'minProperties'].some((keyword) => keyword in rest)) return false;
  for (const [key, { default: usual }] of Object.entries(properties as Record<string, JsonSchema>)) {
    if (usual !== undefined) value[key] = structuredClone(usual);
  }
  return true;
}

/** A failed union reports every branch: keep what went deepest into the value, which is the branch that was meant. */
function relevant(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const noise = new Set<ErrorObject>();
  for (const union of errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')) {
    const branches = errors.filter((e) => e !== union && e.schemaPath.startsWith(`${union.schemaPath}/`));
    const deep = branches.filter(
      (e) => e.instancePath.length > union.instancePath.length || e.keyword === 'additionalProperties',
    );
    for (const e of deep.length ? [union, ...branches] : branches) if (!deep.includes(e)) noise.add(e);
  }
  return errors.filter((e) => !noise.has(e));
}

function problemOf(
  { keyword, instancePath, params, parentSchema, schema, data, message }: ErrorObject,
  at: string,
): Problem {
  const keys = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const found = `; it is ${(JSON.stringify(data) ?? 'undefined').slice(0, 60)}`;
  const says = (text: string, near?: string, below: readonly string[] = keys) => ({
    path: below.reduce(joinKey, at),
    keys: below,
    message: text,
    nearest: near,
  });
  switch (keyword) {
    case 'additionalProperties': {
      const key = String(params.additionalProperty);
      return says(`unknown key "${key}"`, nearest(key, Object.keys(parentSchema?.properties ?? {})), [...keys, key]);
    }
    case 'required':
      return says(`"${params.missingProperty}" is missing`);
    case 'enum': {
      const allowed = (params.allowedValues as unknown[]).map(String);
      return says(
        `must be one of ${allowed.join(', ')}${found}`,
        typeof data === 'string' ? nearest(data, allowed) : undefined,
      );
    }
    case 'anyOf':
    case 'oneOf':
      return says(
        `must be ${[...new Set((schema as JsonSchema[]).map((branch) => branch.type ?? 'another form'))].join(' or ')}${found}`,
      );
    default:
      return says(`${message ?? 'is not valid'}${found}`);
  }
}

/** Config paths as people write them: `a.b[0]["odd key"]`. */
export function joinKey(path: string, key: string): string {
  if (/^\d+$/.test(key)) return `${path}[${key}]`;
  if (!/^[\w$-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path ? `${path}.${key}` : key;
}

import { createRequire } from 'node:module';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { KernelError } from '../error.ts';
import type { Fault } from '../kernel.ts';
import { nearest } from './nearest.ts';
import type { JsonSchema } from '../points.ts';
import { isSecretName, joinKey } from './contract.ts';

/** One fault at one place, as people write it: `agents.list[0].modle`. */
export interface Problem extends Fault {
  readonly plugin?: string;
  readonly nearest?: string | undefined;
}

/** All faults of a config at once, a line each, with its place in the text where `place` knows one. */
export class ConfigError extends KernelError {
  readonly problems: readonly Problem[];
  constructor(problems: readonly Problem[], place = (path: string) => path) {
    super('CONFIG_INVALID', problems.map((problem) => problemText(problem, place(problem.path))).join('\n'));
    this.problems = problems;
  }
}

export const problemText = ({ path, message, nearest: near }: Problem, at = path) =>
  `${at === path ? '' : `${at} `}${path && `${path}: `}${message}${near ? ` (did you mean "${near}"?)` : ''}`;

/** With the way from the checked value to the fault. */
export type Finding = Problem & { readonly keys: readonly string[] };

const require = createRequire(import.meta.url);
const reading = { allErrors: true, verbose: true, useDefaults: true, strict: false, logger: false } as const;
// Our own schemas need no check against the meta schema at every start; a test does that once.
const options = { ...reading, meta: false, validateSchema: false, code: { optimize: false } };
const compiled = new WeakMap<JsonSchema, ValidateFunction>();

/** Checks a value that lies at `at` and fills in defaults, in place. Compiled once per schema object. */
export function validate(schema: JsonSchema, value: unknown, at = ''): readonly Finding[] {
  if (fillEmpty(schema, value)) return [];
  const check = compiled.get(schema) ?? compile(schema);
  return check(value) ? [] : relevant(check.errors ?? []).map((error) => findingOf(error, at));
}

function compile(schema: JsonSchema): ValidateFunction {
  // One each: an instance holds all it ever compiled, whatever is removed from it, and each reload of a plugin brings more.
  const check = new (require('ajv') as typeof import('ajv')).Ajv(options).compile(schema);
  compiled.set(schema, check);
  return check;
}

const plain = new Set(['type', 'properties', 'additionalProperties', 'default', 'title', 'description', 'x-place', 'x-contained']);

/** The usual case at a start, where most plugins have no config: only defaults are to do. False where a validator must tell. */
function fillEmpty(schema: JsonSchema, value: unknown): boolean {
  if (Array.isArray(value) && value.length === 0) return schema['type'] === 'array' && schema['minItems'] === undefined;
  if (schema['type'] !== 'object' || Object.keys(schema).some((keyword) => !plain.has(keyword))) return false;
  if (typeof value !== 'object' || value === null || Object.keys(value).length > 0) return false;
  return Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>).every(([key, property]) => {
    const usual: unknown = structuredClone(property['default']);
    if (usual === undefined) return true;
    Object.assign(value, { [key]: usual });
    const isFlat = Object(usual) !== usual || (Array.isArray(usual) && usual.every((one) => Object(one) !== one));
    return isFlat || fillEmpty(property, usual);
  });
}

/** A failed union reports every branch: keep what went deepest into the value, which is the branch that was meant. */
function relevant(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const noise = new Set<ErrorObject>();
  for (const union of errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')) {
    const branches = errors.filter((e) => e !== union && e.schemaPath.startsWith(`${union.schemaPath}/`));
    const deep = branches.filter((e) => e.instancePath.length > union.instancePath.length || e.keyword === 'additionalProperties');
    for (const e of deep.length ? [union, ...branches] : branches) if (!deep.includes(e)) noise.add(e);
  }
  return errors.filter((e) => !noise.has(e));
}

function findingOf(error: ErrorObject, at: string): Finding {
  const { keyword, instancePath, params, parentSchema, schema, data, message = 'is not valid' } = error;
  const unescape = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~');
  const keys = instancePath.split('/').slice(1).map(unescape);
  const says = (text: string, near?: string, to: readonly string[] = keys) => {
    return { path: to.reduce(joinKey, at), keys: to, message: text, nearest: near };
  };
  const found = `; it is ${shown(data, keys.at(-1))}`;
  switch (keyword) {
    case 'additionalProperties': {
      const key = String(params['additionalProperty']);
      return says(`unknown key "${key}"`, nearest(key, Object.keys(parentSchema?.['properties'] ?? {})), [...keys, key]);
    }
    case 'required':
      return says(`"${params['missingProperty']}" is missing`);
    case 'enum': {
      const allowed = (params['allowedValues'] as unknown[]).map(String);
      return says(`must be one of ${allowed.join(', ')}${found}`, typeof data === 'string' ? nearest(data, allowed) : undefined);
    }
    case 'anyOf':
    case 'oneOf': {
      const forms = (schema as { type?: string | string[] }[]).flatMap(({ type = 'another form' }) => type);
      return says(`must be ${[...new Set(forms)].join(' or ')}${found}`);
    }
    default:
      return says(`${message}${found}`);
  }
}

/** Only what cannot be a secret. */
function shown(value: unknown, key = ''): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  return isSecretName(key) ? 'another value' : (JSON.stringify(value) ?? 'undefined').slice(0, 60);
}

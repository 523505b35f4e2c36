import type { JsonSchema } from '../../kernel/index.ts';
import { neutral, shortened } from '../prompt/contract.ts';

/** What stands where decides what it is: the same key is a keyword in a schema, and a name below `properties`. */
const kinds = {
  words: 'description title $comment',
  schema:
    'items prefixItems additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties propertyNames allOf anyOf oneOf not if then else contentSchema',
  /** By name; in `dependencies` a list of names may stand for a schema. */
  schemas: 'properties patternProperties $defs definitions dependentSchemas dependencies',
  /** They decide, and a tool without them is another one. */
  values: 'enum const required dependentRequired type $ref $dynamicRef $recursiveRef',
  /** Without them more is let through to the server, which judges for itself. */
  hints: 'default examples pattern format contentEncoding contentMediaType $anchor $dynamicAnchor $id $schema',
} as const;
type Kind = keyof typeof kinds;
const kindOf = new Map(Object.entries(kinds).flatMap(([kind, keys]) => keys.split(' ').map((key): [string, Kind] => [key, kind as Kind])));

const most = { chars: 1000, depth: 60 };

/**
 * A server's schema with nothing in it that is hidden or could be taken for a mark: its words for people and models are made
 * harmless and short, keywords of its own with words are left out. `why`: what decides cannot be shown to a model as it is.
 */
export function told(schema: JsonSchema): { readonly schema: JsonSchema } | { readonly why: string } {
  try {
    return { schema: reworded(schema, 0) as JsonSchema };
  } catch (fault) {
    if (fault instanceof Unfit) return { why: fault.message };
    throw fault;
  }
}

class Unfit extends Error {}

function reworded(value: unknown, depth: number): unknown {
  if (depth > most.depth) throw new Unfit('its parameters are nested too deep');
  if (Array.isArray(value)) return value.filter((one) => typeof one !== 'string').map((one) => reworded(one, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([key, inner]) => keyword(key, inner, depth).map((kept) => [named(key), kept])));
}

/** The value that a keyword keeps; none where it is left out. */
function keyword(key: string, value: unknown, depth: number): readonly unknown[] {
  switch (kindOf.get(key)) {
    case 'words':
      return typeof value === 'string' ? [shortened(neutral(value), most.chars)] : [];
    case 'schemas':
      return isRecord(value) ? [Object.fromEntries(Object.entries(value).map(([name, one]) => [named(name), below(one, depth)]))] : [];
    case 'values':
      if (!isHarmless(value)) throw new Unfit(`its parameters hold ${key} with what is hidden, too long or could pass for a mark of ours`);
      return [value];
    case 'hints':
      return isHarmless(value) ? [value] : [];
    case 'schema':
      return typeof value === 'string' ? [] : [reworded(value, depth + 1)];
    default: // also what $ref may lead to
      return typeof value === 'string' || Array.isArray(value) ? [] : [reworded(value, depth + 1)];
  }
}

const below = (value: unknown, depth: number): unknown => {
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.map(named);
  return typeof value === 'string' ? {} : reworded(value, depth + 1);
};

/** A name is what the server knows a value by: it stays as it is, or the tool cannot be used. */
function named(name: string): string {
  if (isHarmless(name)) return name;
  const shown = JSON.stringify(shortened(neutral(name), 60));
  throw new Unfit(`the name of a parameter, ${shown}, holds what is hidden, is too long or could pass for a mark of ours`);
}

function isHarmless(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.length <= most.chars && neutral(value) === value;
  if (typeof value !== 'object' || value === null) return true;
  return depth < most.depth && Object.entries(value).every(([key, inner]) => isHarmless(key) && isHarmless(inner, depth + 1));
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

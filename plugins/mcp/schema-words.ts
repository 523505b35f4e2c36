import type { JsonSchema } from '../../kernel/index.ts';
import { neutral, shortened } from '../prompt/contract.ts';
import { endless } from './schema-size.ts';

/** What stands where decides what it is: the same key is a keyword in a schema, and a name below `properties`. */
const kinds = {
  words: 'description title $comment',
  schema:
    'items prefixItems additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties propertyNames allOf anyOf oneOf not if then else contentSchema',
  /** By name; in `dependencies` a list of names may stand for a schema. */
  schemas: 'properties $defs definitions dependentSchemas dependencies',
  /** They decide, and a tool without them is another one. */
  values: 'enum const required dependentRequired type $ref $dynamicRef $recursiveRef',
  /** Without them more is let through to the server, which judges for itself. */
  hints: 'examples contentEncoding contentMediaType nullable',
  /** Filled in by us they could grow without end. They are told as words, as patterns are, and the server knows them. */
  defaults: 'default',
  /** A regular expression of a stranger may run for ever. It is told to the model as words, and nobody runs it. */
  patterns: 'pattern patternProperties format',
  /** Numbers since draft 6; what they were before fits no validator. */
  numbers: 'exclusiveMinimum exclusiveMaximum',
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
    const exact = new Telling(false);
    const whole = exact.schema(schema, 0) as JsonSchema;
    const said = exact.lost ? (new Telling(true).schema(schema, 0) as JsonSchema) : whole;
    const why = endless(said);
    return why === undefined ? { schema: said } : { why };
  } catch (fault) {
    if (fault instanceof Unfit) return { why: fault.message };
    throw fault;
  }
}

class Unfit extends Error {}
type Part = Readonly<Record<string, unknown>>;
type Entry = readonly [key: string, value: unknown];

class Telling {
  /** Whether a condition was left out. */
  lost = false;
  /** Then a part lets more through, and what asks that a part does not fit may go too. */
  readonly #isLoose: boolean;

  constructor(isLoose: boolean) {
    this.#isLoose = isLoose;
  }

  schema(value: unknown, depth: number): unknown {
    if (depth > most.depth) throw new Unfit('its parameters are nested too deep');
    if (Array.isArray(value)) return value.filter((one) => typeof one !== 'string').map((one) => this.schema(one, depth + 1));
    if (typeof value !== 'object' || value === null) return value;
    const kept = Object.entries(value).flatMap(([key, inner]) => this.#keyword(key, inner, depth, value));
    const said = toldIn(value as Part);
    const described = 'description' in value && typeof value.description === 'string' ? value.description : '';
    const whole = Object.fromEntries([...kept, ...(said ? [['description', words(`${described} (${said})`.trim())] as const] : [])]);
    return 'nullable' in value && value.nullable === true && !('type' in value) ? orNull(whole) : whole;
  }

  /** What a keyword keeps; nothing where it is left out. */
  #keyword(key: string, value: unknown, depth: number, beside: object): readonly Entry[] {
    const kept = (one: unknown): readonly Entry[] => [[named(key), one]];
    switch (kindOf.get(key)) {
      case 'words':
        return typeof value === 'string' ? kept(words(value)) : [];
      case 'schemas':
        return isRecord(value)
          ? kept(Object.fromEntries(Object.entries(value).map(([name, one]) => [named(name), this.#below(one, depth)])))
          : [];
      case 'values':
        if (!isHarmless(value))
          throw new Unfit(`its parameters hold ${key} with what is hidden, too long or could pass for a mark of ours`);
        if (key === '$ref' && !leadsToSchema(value)) throw new Unfit('its parameters refer ($ref) to what is no schema of theirs');
        return kept(value);
      case 'hints':
        // Without a type beside it no validator takes it: see orNull.
        return isHarmless(value) && (key !== 'nullable' || (value === true && 'type' in beside)) ? kept(value) : [];
      case 'defaults':
        return [];
      case 'patterns':
        this.lost = true;
        return [];
      case 'numbers':
        return typeof value === 'number' ? kept(value) : [];
      case 'schema':
        return typeof value === 'string' ? [] : this.#inner(key, value, depth, beside);
      default: // also what $ref may lead to
        return typeof value === 'string' || Array.isArray(value) ? [] : kept(this.schema(value, depth + 1));
    }
  }

  #inner(key: string, value: unknown, depth: number, beside: object): readonly Entry[] {
    const inner = this.schema(value, depth + 1);
    if (!this.#isLoose) return [[key, inner]];
    if (key === 'not' || key === 'if' || (key === 'additionalProperties' && 'patternProperties' in beside)) return [];
    if (key === 'contains' && 'maxContains' in beside) return [];
    if (key === 'oneOf') return 'anyOf' in beside ? [] : [['anyOf', inner]];
    return [[key, inner]];
  }

  #below(value: unknown, depth: number): unknown {
    if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.map(named);
    return typeof value === 'string' ? {} : this.schema(value, depth + 1);
  }
}

/** For the model, which fills the fields in. */
function toldIn({ pattern, patternProperties, format, default: usual }: Part): string {
  return [
    ...(typeof pattern === 'string' ? [`pattern ${pattern}`] : []),
    ...(isRecord(patternProperties) ? [`names by pattern ${Object.keys(patternProperties).join(', ')}`] : []),
    ...(typeof format === 'string' ? [`format ${format}`] : []),
    ...(usual === undefined || !isHarmless(usual) ? [] : [`default ${JSON.stringify(usual)}`]),
  ].join('; ');
}

/** What `nullable` means, where no type stands beside it. */
function orNull(whole: Part): Part {
  const none = { type: 'null' };
  if (Array.isArray(whole['anyOf'])) return { ...whole, anyOf: [...(whole['anyOf'] as readonly unknown[]), none] };
  const { description, title, ...judging } = whole;
  if (Object.keys(judging).length === 0) return whole;
  return { ...(description !== undefined && { description }), ...(title !== undefined && { title }), anyOf: [judging, none] };
}

/** From schema to schema, by the steps of the walk above: no value, where a keyword would be one that nobody looked at. */
function leadsToSchema(ref: unknown): boolean {
  // An encoded slash would be a step of its own.
  if (typeof ref !== 'string' || !/^#(?:\/|$)/.test(ref) || /%2f/i.test(ref)) return false;
  const steps = ref.split('/').slice(1);
  for (let i = 0; i < steps.length; i++) {
    const kind = kindOf.get(steps[i] ?? '');
    if (kind === 'schemas') i++;
    else if (kind !== undefined && kind !== 'schema') return false;
  }
  return true;
}

const words = (said: string) => shortened(neutral(said), most.chars);

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

const isRecord = (value: unknown): value is Part => typeof value === 'object' && value !== null && !Array.isArray(value);

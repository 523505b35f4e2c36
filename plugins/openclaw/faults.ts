import type { ErrorObject } from 'ajv';
import type { JsonSchema } from '../../kernel/index.ts';
import { type Finding, isObject, isSecretReference } from './finding.ts';
import { below, branchFor } from './schema.ts';

/** Values that are not of the form that the schema asks for. Which keys there are is the review's part. */
export async function faultsOf(values: unknown, schema: JsonSchema): Promise<readonly Finding[]> {
  const { Ajv } = await import('ajv');
  const validate = new Ajv({ allErrors: true, strict: false, logger: false, validateSchema: false }).compile(schema);
  if (validate(withoutReferences(values))) return [];
  return meant(validate.errors ?? []).map((error) => faultOf(error, schema));
}

/** A secret is fetched later, and is a text. */
const withoutReferences = (values: unknown): unknown =>
  JSON.parse(JSON.stringify(values ?? {}, (_, value: unknown) => (isSecretReference(value) ? 'a secret' : value)));

/** Of a union, what went deepest was meant; unknown keys are told by the review. */
function meant(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  const dropped = unions.flatMap((union) => {
    const branches = errors.filter((error) => error !== union && error.schemaPath.startsWith(`${union.schemaPath}/`));
    const deeper = branches.filter(({ instancePath }) => instancePath.length > union.instancePath.length);
    return deeper.length ? [union, ...branches.filter((error) => !deeper.includes(error))] : branches;
  });
  return errors.filter((error) => error.keyword !== 'additionalProperties' && !dropped.includes(error));
}

function faultOf({ keyword, instancePath, params, message = 'does not fit' }: ErrorObject, schema: JsonSchema): Finding {
  const keys = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const block = containedIn(schema, keys);
  const left = block ? `; "${block}" is left out, the rest runs` : '';
  return { keys, kind: 'error', why: `${says(keyword, params, message)}${left}` };
}

function says(keyword: string, params: Readonly<Record<string, unknown>>, message: string): string {
  if (keyword === 'required') return `"${String(params['missingProperty'])}" is missing`;
  if (keyword === 'enum') return `must be one of ${(params['allowedValues'] as unknown[]).map(String).join(', ')}`;
  return message;
}

/** The block of a map whose blocks fail alone. */
function containedIn(schema: JsonSchema, keys: readonly string[]): string | undefined {
  let at: JsonSchema | undefined = schema;
  for (const key of keys) {
    if (at['x-contained'] === true) return key;
    const next = branchFor(at, {});
    at = below(next, key) ?? (isObject(next['items']) ? next['items'] : undefined);
    if (!at) return undefined;
  }
  return undefined;
}

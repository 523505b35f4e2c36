import { type JsonSchema, nearest } from '../../kernel/index.ts';
import { documented, type Node, treatmentOf, values as treatedValues } from './documented.ts';
import { type Finding, isObject, isSecretReference, type Keys } from './finding.ts';
import { below, branchFor, isOpaque } from './schema.ts';

export interface Review {
  /** Only what the schema has. Lists keep their length, so that places stay right. */
  readonly kept: unknown;
  readonly findings: readonly Finding[];
}

interface Scope {
  readonly schema: JsonSchema;
  readonly plugin: string | undefined;
  /** Slips that OpenClaw lets pass are warnings; elsewhere they are errors. */
  readonly isTolerant: boolean;
}

/** Walks a config beside the schema: what is in use, what has no effect here, and which keys are unknown. */
export function review(values: unknown, schema: JsonSchema, isTolerant: boolean): Review {
  const findings: Finding[] = [];
  const kept = keep(values, [], { schema, plugin: undefined, isTolerant }, findings);
  return { kept, findings };
}

/** `undefined` where nothing of a value is kept. */
function keep(value: unknown, keys: Keys, scope: Scope, findings: Finding[]): unknown {
  const schema = branchFor(scope.schema, value);
  const plugin = (schema['x-plugin'] as string | undefined) ?? scope.plugin;
  const isInUse = () => findings.push({ keys, kind: 'in use', plugin });
  if (Array.isArray(value)) {
    const items = schema['items'];
    if (!isObject(items) || !value.some(isObject)) return (isInUse(), value);
    return value.map((item, i) => keep(item, [...keys, String(i)], { ...scope, schema: items, plugin }, findings) ?? {});
  }
  if (!isObject(value) || isSecretReference(value)) {
    const why = treatedValues.find(({ at, is }) => is.includes(value as string) && matches(at, keys))?.why;
    if (!scope.isTolerant || !why || (schema['enum'] as unknown[] | undefined)?.includes(value)) return (isInUse(), value);
    findings.push({ keys, kind: 'no effect', why });
    return undefined;
  }
  if (isOpaque(schema)) {
    const node = scope.isTolerant ? documented(keys) : undefined;
    if (node && node.below.size > 0 && Object.keys(value).length > 0) findings.push(...lost(value, keys, node));
    else isInUse();
    return value;
  }
  return keepObject(value, keys, { ...scope, schema, plugin }, findings);
}

function keepObject(value: Readonly<Record<string, unknown>>, keys: Keys, scope: Scope, findings: Finding[]) {
  const kept: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    const at = [...keys, key];
    const schema = below(scope.schema, key);
    if (scope.isTolerant && pathIs(keys, 'plugins', 'entries') && !isOwnKey(scope.schema, key)) {
      findings.push({ keys: at, kind: 'no effect', why: 'no plugin of this name comes with Instar; one of yours would take it' });
    } else if (schema?.['deprecated'] === true) {
      findings.push(refused(at, schema, scope.isTolerant));
    } else if (schema) {
      const held = scope.isTolerant ? heldNode(at, schema, scope.plugin) : undefined;
      if (held) findings.push(...lost(inner, at, held));
      const own = keep(inner, at, { ...scope, schema }, held ? [] : findings);
      if (own !== undefined) kept[key] = own;
    } else {
      const node = scope.isTolerant ? documented(at) : undefined;
      findings.push(...(node ? lost(inner, at, node) : [unknownKey(at, ownKeys(scope.schema), scope.isTolerant)]));
    }
  }
  if (Object.keys(value).length === 0) findings.push({ keys, kind: 'in use', plugin: scope.plugin });
  return kept;
}

const ownKeys = (schema: JsonSchema) => Object.keys((schema['properties'] as object | undefined) ?? {});
const isOwnKey = (schema: JsonSchema, key: string) => ownKeys(schema).includes(key);
const pathIs = (keys: Keys, ...path: Keys) => keys.length === path.length && path.every((key, i) => key === keys[i]);

/** A key whose form is known to a plugin that does not read it. */
function heldNode(keys: Keys, schema: JsonSchema, above: string | undefined): Node | undefined {
  const node = documented(keys);
  const { heldBy } = node ? treatmentOf(node) : {};
  const isHeld = heldBy !== undefined && heldBy === ((schema['x-plugin'] as string | undefined) ?? above);
  return isHeld && !hasOtherReader(schema) ? node : undefined;
}

/** Another plugin has added keys below. */
const hasOtherReader = (schema: JsonSchema): boolean =>
  Object.values((schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>).some(
    (inner) => 'x-plugin' in inner || hasOtherReader(inner),
  );

/** What is documented and read by nobody here. One finding for all that has the same reason, and one for each key nobody knows. */
function lost(value: unknown, keys: Keys, node: Node): readonly Finding[] {
  const { why = '', loosens } = treatmentOf(node);
  const isLeaf = node.isOpen || node.below.size === 0 || typeof value !== 'object' || value === null;
  const whole: Finding = { keys, kind: loosens ? 'warning' : 'no effect', why: `${loosens ? 'has no effect: ' : ''}${why}` };
  if (isLeaf) return [whole];
  const inner = Object.entries(value).flatMap(([key, one]) => {
    const at = [...keys, key];
    const next = documented(at);
    return next ? lost(one, at, next) : [unknownKey(at, [...node.below.keys()], true)];
  });
  const documentedOnly = inner.filter((one) => one.kind !== 'warning' || one.why?.startsWith('has no effect: '));
  const isOne = documentedOnly.every((one) => one.why === documentedOnly[0]?.why);
  if (!isOne) return inner;
  return [{ ...whole, ...documentedOnly[0], keys }, ...inner.filter((one) => !documentedOnly.includes(one))];
}

/** A key that is in the schema only to say where what it means has gone. */
function refused(keys: Keys, { description }: JsonSchema, isTolerant: boolean): Finding {
  const says = typeof description === 'string' ? description.replace(/^Refused: /, '') : 'it is a key no more';
  return { keys, kind: isTolerant ? 'warning' : 'error', why: isTolerant ? `has no effect: ${says}` : says };
}

export const isUnknownKey = ({ why = '' }: Finding) => why.startsWith('unknown key ');

function unknownKey(keys: Keys, known: readonly string[], isTolerant: boolean): Finding {
  const key = keys.at(-1) ?? '';
  const near = nearest(key, isTolerant ? [...known, ...(documented(keys.slice(0, -1))?.below.keys() ?? [])] : known);
  const meant = near && near !== '*' ? ` (did you mean "${near}"?)` : '';
  return { keys, kind: isTolerant ? 'warning' : 'error', why: `unknown key "${key}"${isTolerant ? ' has no effect' : ''}${meant}` };
}

const matches = (pattern: string, keys: Keys) => {
  const parts = pattern.split('.');
  return parts.length === keys.length && parts.every((part, i) => part === '*' || part === keys[i]);
};

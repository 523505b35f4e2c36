import { type JsonSchema, joinKey } from '../../kernel/index.ts';
import { dig, type Finding, type Keys, type Values } from './finding.ts';
import { checkReferences, withoutEntries } from './references.ts';
import { review } from './review.ts';
import { translate } from './translation.ts';

export interface Reading {
  /** What the rest of the product gets to see. */
  readonly values: Values;
  readonly findings: readonly Finding[];
}

export const pathOf = (keys: Keys) => keys.reduce(joinKey, '');

/** An OpenClaw config in our words: what has no effect is gone, what has another form is translated. `plugins` stays as it is. */
export function readOpenClaw(text: Values, schema: JsonSchema, place: (path: string) => string): Reading {
  const translated = translate(text);
  const reviewed = review(translated.values, schema, true);
  const checked = checkReferences(reviewed.kept as Values, true, (keys) => place(pathOf(keys)));
  const foreign = foreignBindings(checked.values, schema);
  const gone = [...checked.dropped, ...foreign.map(({ keys }) => keys)];
  const { plugins: _, ...values } = withoutEntries(
    checked.values,
    foreign.map(({ keys }) => keys),
  );
  const walked = reviewed.findings.filter(({ keys }) => !gone.some((one) => isWithin(keys, one)));
  const found = [...translated.findings, ...walked, ...checked.findings, ...foreign];
  const placed = found.map((one) => ({ ...one, keys: translated.origin(one.keys) }));
  const findings = placed.filter(({ keys }) => dig(text, keys) !== undefined); // what we made up is nobody's key
  return { values: text['plugins'] === undefined ? values : { ...values, plugins: text['plugins'] }, findings: distinct(findings) };
}

/** A config of our own: nothing is forgiven, nothing changed. */
export function readOwn(text: Values, schema: JsonSchema, place: (path: string) => string): Reading {
  const { findings } = review(text, schema, false);
  const checked = checkReferences(text, false, (keys) => place(pathOf(keys)));
  return { values: text, findings: distinct([...findings, ...checked.findings]) };
}

/** A binding of a type that is none here, such as `acp`, must not route. */
function foreignBindings({ bindings }: Values, schema: JsonSchema): readonly Finding[] {
  const types = dig(schema, ['properties', 'bindings', 'items', 'properties', 'type', 'enum']);
  if (!Array.isArray(bindings) || !Array.isArray(types)) return [];
  return bindings.flatMap((binding: unknown, i): readonly Finding[] => {
    const type = dig(binding, ['type']);
    if (type !== 'acp' || types.includes(type)) return [];
    return [{ keys: ['bindings', String(i)], kind: 'no effect', why: 'no plugin here binds a chat to an ACP session yet' }];
  });
}

const isWithin = (keys: Keys, at: Keys) => at.every((key, i) => key === keys[i]);

const distinct = (findings: readonly Finding[]) => [
  ...new Map(findings.map((one) => [`${one.kind} ${pathOf(one.keys)} ${one.why}`, one])).values(),
];

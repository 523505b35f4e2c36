import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import JSON5 from 'json5';
import type { JsonSchema } from '../../kernel/index.ts';
import { type Key, variantsOf } from './keys.ts';

/** Every key once, with a value as people have it; the tests check it as a config. */
export const everyKey = 'docs/generate/every-key.json5';

/** An example of each key: its schema's, else one of `everyKey` or of a config under `examples/`, else made of its type. */
export function exampleFinder(root: string) {
  const configs = [everyKey, ...globSync('examples/**/*.json5', { cwd: root, exclude: ['**/node_modules/**'] }).toSorted()].map((file) =>
    JSON5.parse<unknown>(readFileSync(join(root, file), 'utf8')),
  );
  return ({ path, schema }: Key): unknown => {
    if (schema['properties'] || (schema['items'] as JsonSchema | undefined)?.['properties']) return undefined; // its keys have theirs
    const [own] = (schema['examples'] ?? []) as readonly unknown[];
    const used = () => configs.flatMap((config) => valuesAt(config, path.split(/\.|(?=\[\])/))).find(isShort);
    return own ?? used() ?? madeOf(schema);
  };
}

const isShort = (value: unknown) => JSON.stringify(value).length <= 60;

function valuesAt(value: unknown, [step, ...rest]: readonly string[]): readonly unknown[] {
  if (step === undefined) return value === undefined ? [] : [value];
  if (typeof value !== 'object' || value === null) return [];
  if (step === '[]' || step === '<name>') return Object.values(value).flatMap((inner) => valuesAt(inner, rest));
  return valuesAt((value as Readonly<Record<string, unknown>>)[step], rest);
}

/** A value other than the default where the type alone leads to one; never a made-up text. */
function madeOf(node: JsonSchema): unknown {
  const { default: usual, enum: values, type } = node;
  const [first] = variantsOf(node);
  if (first) return usual ?? madeOf(first);
  if (Array.isArray(values)) return (values as readonly unknown[]).find((one) => one !== usual);
  if (type === 'boolean') return usual !== true;
  return typeof usual === 'object' ? undefined : usual;
}

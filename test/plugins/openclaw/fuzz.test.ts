import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import JSON5 from 'json5';
import { expect, test } from 'vitest';
import { faultsOf } from '../../../plugins/openclaw/faults.ts';
import { dig, put, type Values } from '../../../plugins/openclaw/finding.ts';
import { pathOf, readOpenClaw, readOwn } from '../../../plugins/openclaw/reading.ts';
import { sampleSchema } from './sample-schema.ts';

const root = join(import.meta.dirname, '../../..');
const files = globSync('examples/openclaw/*/openclaw.json', { cwd: root }).filter((file) => !file.includes('split'));
const examples = files.map((file) => JSON5.parse<Values>(readFileSync(join(root, file), 'utf8')));
const place = (path: string) => path;
const read = (text: Values) => readOpenClaw(text, sampleSchema, place);

/** Ways to every object in a config. */
function objectsIn(value: unknown, keys: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, one]) => objectsIn(one, [...keys, key]));
  return Array.isArray(value) ? inner : [keys, ...inner];
}
const example = fc.constantFrom(...examples);
/** A place in an example, whose key is anything. */
/** A map takes any name, and so does an object that nobody has looked into yet. */
const takesAny = (keys: readonly string[]) => /^(models\.providers|plugins\.entries|session\.reset)$/.test(pathOf(keys));
const placed = example.chain((text) =>
  fc.record({ text: fc.constant(text), at: fc.constantFrom(...objectsIn(text).filter((keys) => !takesAny(keys))) }),
);
const json = fc.jsonValue({ maxDepth: 3 });

test('an unknown key anywhere changes nothing of what is kept, and is told once, unless all there is passed over', () => {
  fc.assert(
    fc.property(placed, json, ({ text, at }, value) => {
      const key = 'zz-nobody-knows';
      const spoiled = put(text, [...at, key], value) as Values;
      const before = read(text);
      const after = read(spoiled);
      expect(JSON.stringify(after.values)).not.toMatch(new RegExp(`"${key}":`));
      const path = pathOf([...at, key]);
      const about = after.findings.filter(({ keys }) => pathOf(keys) === path);
      expect(about.length).toBeLessThanOrEqual(1);
      for (const { kind } of about) expect(kind).toMatch(/^(warning|no effect)$/);
      if (about.some(({ kind }) => kind === 'warning')) expect(after.values).toEqual(before.values);
    }),
    { numRuns: 300 },
  );
});

test('whatever lies at a key, reading neither fails nor touches the text', async () => {
  const anywhere = placed.chain(({ text, at }) =>
    fc.record({
      text: fc.constant(text),
      keys: fc.constantFrom(...Object.keys(dig(text, at) as object), 'new').map((key) => [...at, key]),
      value: json,
    }),
  );
  await fc.assert(
    fc.asyncProperty(anywhere, async ({ text, keys, value }) => {
      const spoiled = put(text, keys, value) as Values;
      const copy = structuredClone(spoiled);
      const { values, findings } = read(spoiled);
      readOwn(spoiled, sampleSchema, place);
      await faultsOf(values, sampleSchema);
      expect(spoiled).toEqual(copy);
      for (const finding of findings) expect(finding.kind === 'in use' || (finding.why ?? '')).toBeTruthy();
      expect(read(values).values).toEqual(values); // what is in our words already stays
    }),
    { numRuns: 200 },
  );
});

test('a wrong type where a key is in use is an error at its place', async () => {
  const wrong = [
    [['gateway', 'port'], 'x'],
    [['agents', 'list'], {}],
    [['agents', 'list', '0', 'id'], 5],
    [['agents', 'defaults', 'model'], 5],
    [['tools', 'deny'], 'exec'],
    [['bindings'], 'x'],
    [['models', 'providers', 'p'], { baseUrl: 5, models: [] }],
  ] as const;
  const base = { agents: { list: [{ id: 'main' }], defaults: {} }, tools: {}, gateway: {}, models: { providers: {} } };
  for (const [keys, value] of wrong) {
    const faults = await faultsOf(read(put(base, keys, value) as Values).values, sampleSchema);
    expect(faults.map((one) => pathOf(one.keys.slice(0, keys.length)))).toContain(pathOf(keys));
  }
});

test('any JSON at all is read', () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.constantFrom('agents', 'bindings', 'models', 'gateway', 'agent', 'identity', 'tools', 'plugins', 'channels', 'x'),
        json,
      ),
      (text) => {
        expect(() => read({ ...text })).not.toThrow();
      },
    ),
    { numRuns: 300 },
  );
});

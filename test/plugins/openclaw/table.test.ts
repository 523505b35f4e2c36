import { expect, test } from 'vitest';
import { documented, documentedPaths, groups, moves, treatmentOf, values } from '../../../plugins/openclaw/documented.ts';
import { readOpenClaw } from '../../../plugins/openclaw/reading.ts';
import { put, type Values } from '../../../plugins/openclaw/finding.ts';

const paths = documentedPaths();
const keysOf = (path: string) =>
  path
    .split('.')
    .filter((key) => key !== '**')
    .map((key) => (key === '*' ? '0' : key));

test('the table holds the documented keys, each once and each with a reason that a person can read', () => {
  expect(paths.length).toBeGreaterThan(600);
  const written = groups.flatMap(({ at, keys }) =>
    [at].flat().flatMap((start) =>
      keys
        .split(' ')
        .filter(Boolean)
        .map((key) => (start ? `${start}.${key}` : key)),
    ),
  );
  expect(written.toSorted().filter((path, i, all) => path === all[i - 1])).toEqual([]);
  for (const { why = '' } of [...groups, ...values]) expect(why).toMatch(/^[a-zO].{15,}[^.]$/);
});

test('SPEC 1.6: with no plugin at all, every documented key is passed over with its reason and none is a fault', () => {
  const nothing = { type: 'object', additionalProperties: false, properties: {} };
  for (const path of paths.filter((one) => !one.startsWith('plugins.') && !moves.some(({ from }) => from === one))) {
    const text = put({}, keysOf(path), 'x') as Values;
    const { values: kept, findings } = readOpenClaw(text, nothing, (at) => at);
    const { why = '?' } = treatmentOf(documented(keysOf(path)) ?? { below: new Map(), isOpen: false });
    const told = findings.map((one) => one.why);
    expect({ path, kept, told }).toEqual({ path, kept: {}, told: [expect.stringContaining(why)] });
  }
});

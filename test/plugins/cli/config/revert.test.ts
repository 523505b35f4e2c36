import { assert, asyncProperty, constantFrom, integer } from 'fast-check';
import JSON5 from 'json5';
import { expect, test } from 'vitest';
import { openTree } from '../../../../plugins/cli/config/layers.ts';
import { planSet } from '../../../../plugins/cli/config/plan.ts';
import { revert } from '../../../../plugins/cli/config/revert.ts';

const set = (text: string, key: string, value: unknown) =>
  planSet(
    openTree('/c', () => text),
    [{ key, isBare: false }],
    value,
  ).after;

test.each([
  ['elsewhere', '{\n  a: 1,\n  b: 1,\n}', '{\n  a: 2,\n  b: 1,\n}', '{\n  a: 2,\n  b: 5,\n}', '{\n  a: 1,\n  b: 5,\n}'],
  ['the same value', '{\n  a: 1,\n}', '{\n  a: 2,\n}', '{\n  a: 3,\n}', undefined],
  [
    'CRLF stays',
    '{\r\n  a: 1,\r\n  b: 1,\r\n}',
    '{\r\n  a: 2,\r\n  b: 1,\r\n}',
    '{\r\n  a: 2,\r\n  b: 5,\r\n}',
    '{\r\n  a: 1,\r\n  b: 5,\r\n}',
  ],
  ['one line', '{ a: 1, b: 1 }', '{ a: 2, b: 1 }', '{ a: 2, b: 5 }', undefined],
  ['a text that is broken now', '{\n  a: 1,\n}\n', '{\n  a: 2,\n}\n', '{\n  a: \n}\n', undefined],
  ['lines that look alike', '{\n x: {\n  a: 1,\n },\n y: {\n },\n}', '{\n x: {\n },\n y: {\n },\n}', '{\n y: {\n },\n}', undefined],
])('what was changed since is kept, or it is refused: %s', async (_, before, after, now, expected) => {
  expect(await revert({ before, after, now })).toBe(expected);
});

test('whatever two changes do, taking the first back keeps the second or is refused', async () => {
  const key = constantFrom('a', 'b', 'c', 'd', 'e', 'f');
  await assert(
    asyncProperty(key, key, integer({ min: 2, max: 4 }), integer({ min: 2, max: 4 }), async (one, two, first, second) => {
      const before = '{\n  // c\n  a: 1,\n  b: 1, c: 1,\n  d: 1,\n}\n';
      const after = set(before, one, first);
      const now = set(after, two, second);
      const text = await revert({ before, after, now });
      if (one !== two && text !== undefined) expect(JSON5.parse(text)).toEqual({ ...JSON5.parse(before), [two]: second });
      if (one === two && first !== second) expect(text).toBeUndefined();
      if (one !== two && 'ad'.includes(one) && 'ad'.includes(two)) expect(text).toBeDefined();
    }),
    { numRuns: 200 },
  );
});

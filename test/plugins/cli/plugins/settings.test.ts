import { expect, test } from 'vitest';
import { settingsAt } from '../../../../plugins/cli/plugins/settings.ts';

const at = (path: string, values: Record<string, unknown>) =>
  settingsAt(path, { file: 'f', texts: new Map(), values, problems: [], place: (where) => `f:${where}` });

test('what the text sets is told leaf by leaf, with its place', () => {
  expect(at('a', { a: { b: 1, list: [{ c: 'x' }], 'odd key': {} }, z: 1 })).toEqual([
    { path: 'a.b', value: 1, place: 'f:a.b' },
    { path: 'a.list[0].c', value: 'x', place: 'f:a.list[0].c' },
    { path: 'a["odd key"]', value: {}, place: 'f:a["odd key"]' },
  ]);
  expect(at('a.none', { a: {} })).toEqual([]);
});

test('what is secret by its name is hidden, however deep; numbers are shown', () => {
  const values = { p: { apiKey: 'x', tokens: ['y', { z: 'z' }], maxTokens: 7, model: 'm' } };
  expect(at('p', values).map(({ value }) => value)).toEqual(['[hidden]', '[hidden]', '[hidden]', 7, 'm']);
});

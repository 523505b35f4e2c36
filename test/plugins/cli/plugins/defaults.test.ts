import { expect, test } from 'vitest';
import { defaultsOf } from '../../../../plugins/cli/plugins/defaults.ts';

const schema = {
  properties: {
    port: { type: 'integer', default: 80 },
    host: { type: 'string' },
    tls: { type: 'object', properties: { on: { default: false } } },
    limits: { type: 'object', default: {}, properties: { rate: { default: 5 }, burst: { type: 'integer' } } },
    list: { type: 'array', items: { properties: { kind: { default: 'a' } } } },
    by: { type: 'object', additionalProperties: { properties: { weight: { default: 1 } } } },
    none: { type: 'array', default: [] },
  },
};
const told = (value: unknown) => Object.fromEntries(defaultsOf(schema, value, 's').map(({ path, value: usual }) => [path, usual]));

test.each<[string, unknown, object]>([
  ['nothing', {}, { 's.port': 80, 's.limits.rate': 5, 's.none': [] }],
  ['a value that has a default', { port: 1 }, { 's.limits.rate': 5, 's.none': [] }],
  ['parts of objects', { limits: { burst: 2 }, tls: {} }, { 's.port': 80, 's.limits.rate': 5, 's.tls.on': false, 's.none': [] }],
  [
    'entries of lists and maps',
    { list: [{}, { kind: 'b' }], by: { 'odd key': {} } },
    { 's.list[0].kind': 'a', 's.by["odd key"].weight': 1, 's.port': 80, 's.limits.rate': 5, 's.none': [] },
  ],
  ['what the schema does not fit', { limits: 3, list: 'x' }, { 's.port': 80, 's.none': [] }],
])('where the text sets %s, the rest has its defaults', (_, value, expected) => {
  expect(told(value)).toEqual(expected);
});

test('a default is marked as one', () => {
  expect(defaultsOf(schema, {}, 's')[0]).toEqual({ path: 's.port', value: 80, place: 'default', isDefault: true });
});

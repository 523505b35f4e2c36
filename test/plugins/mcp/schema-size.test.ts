import { expect, test } from 'vitest';
import type { JsonSchema } from '../../../kernel/index.ts';
import { validate } from '../../../kernel/host/schema.ts';
import { offeredOf, type Server } from '../../../plugins/mcp/tools.ts';
import { told } from '../../../plugins/mcp/schema-words.ts';

const ref = (name: string) => ({ $ref: `#/$defs/${name}` });
/** Each part asks for the next one twice. */
const chain = (length: number, twice: (next: object) => object, last: object) =>
  Object.fromEntries(Array.from({ length: length + 1 }, (_, i) => [`d${i}`, i < length ? twice(ref(`d${i + 1}`)) : last]));
const schemaOf = ($defs: object, a: object = ref('d0')) => ({ type: 'object', properties: { a }, $defs });

const inAll = (next: object) => ({ allOf: [next, next] });
const endless: readonly (readonly [what: string, schema: JsonSchema, why: RegExp])[] = [
  ['that doubles its parts 30 times', schemaOf(chain(30, inAll, { type: 'string' })), /more than 10000 parts/],
  ['that does so in alternatives', schemaOf(chain(30, (next) => ({ oneOf: [next, { not: next }] }), {})), /more than 10000 parts/],
  [
    'that does so below properties',
    schemaOf(chain(30, (next) => ({ properties: { x: { allOf: [next, next] } } }), {})),
    /more than 10000 parts/,
  ],
  [
    'that does so with $ref into a name that is encoded',
    schemaOf({ 'a/b': ref('a~1c'), 'a/c': inAll(ref('d%30')), ...chain(30, inAll, {}) }, ref('a~1b')),
    /more than 10000 parts/,
  ],
  ['that refers to itself for the same value', schemaOf({ d0: { anyOf: [{ type: 'string' }, ref('d0')] } }), /without end/],
  ['that does so by way of another', schemaOf({ d0: { not: ref('d1') }, d1: { if: ref('d0') } }), /without end/],
  ['that doubles with each level of a property', schemaOf({ d0: { properties: { x: inAll(ref('d0')) } } }), /ever longer/],
  ['that doubles with each item', schemaOf({ d0: { items: ref('d1'), contains: ref('d0') }, d1: { anyOf: [ref('d0')] } }), /ever longer/],
  [
    'whose alternatives double what one property holds',
    schemaOf({ d0: { anyOf: ['and', 'or'].map((op) => ({ properties: { op: { const: op }, of: ref('d0') } })) } }),
    /ever longer/,
  ],
  [
    'that multiplies a thousandfold where it comes back',
    schemaOf({ ...chain(10, inAll, { properties: { x: ref('d0') } }) }),
    /ever longer/,
  ],
];
test.each(endless)('S18: a tool with parameters %s cannot be used, and it is said why', (_, schema, why) => {
  expect(told(schema)).toEqual({ why: expect.stringMatching(why) });
});

const json = { anyOf: [{ type: 'string' }, { type: 'array', items: ref('d0') }, { type: 'object', additionalProperties: ref('d0') }] };
const tree = { type: 'object', properties: { left: ref('d0'), right: ref('d0'), all: { type: 'array', items: ref('d0') } } };
const filter = {
  anyOf: [...['and', 'or'].map((op) => ({ properties: { [op]: { items: ref('d0') } } })), { properties: { not: ref('d0') } }],
};
const pair = { type: 'array', items: [{ type: 'string' }, ref('d0'), ref('d0')] };
test.each([
  ['any value', json, { x: [{ y: 'z' }] }],
  ['a tree', tree, { left: { all: [{ right: {} }] } }],
  ['a filter', filter, { and: [{ or: [{ not: {} }] }] }],
  ['an expression', pair, ['+', ['-', [], []], []]],
])('a tool that takes %s by a schema that refers to itself is offered', (_, d0, a) => {
  const shown = told(schemaOf({ d0 }));
  if ('why' in shown) throw new Error(shown.why);
  expect(validate(shown.schema, { a })).toEqual([]);
});

test('S18: no default of a server grows the arguments: it is told as words', () => {
  const shown = told({ type: 'object', properties: { a: { type: 'integer', description: 'How many', default: 10 } } });
  if ('why' in shown) throw new Error(shown.why);
  expect(shown.schema).toMatchObject({ properties: { a: { description: 'How many (default 10)' } } });
  const args = {};
  validate(shown.schema, args);
  expect(args).toEqual({});
});

test.each([
  ['alternatives', { anyOf: [{ type: 'string' }, { type: 'integer' }], nullable: true }],
  ['a reference', { $ref: '#/$defs/d0', nullable: true, description: 'A word' }],
])('null fits where it may stand beside %s, and nothing else does', (_, a) => {
  const shown = told(schemaOf({ d0: { type: 'string' } }, a));
  if ('why' in shown) throw new Error(shown.why);
  const faults = (value: unknown) => validate(shown.schema, { a: value }).length;
  expect([faults(null), faults('x')]).toEqual([0, 0]);
  expect(faults(true)).toBeGreaterThan(0);
  if ('description' in a) expect(shown.schema).toMatchObject({ properties: { a: { description: 'A word' } } });
});

test('alternatives that only formats tell apart both fit', () => {
  const a = { oneOf: ['uri', 'email'].map((format) => ({ type: 'string', format })) };
  const shown = told(schemaOf({}, a));
  if ('why' in shown) throw new Error(shown.why);
  expect(validate(shown.schema, { a: 'https://example.org' })).toEqual([]);
});

test('S18: what cannot be used takes little time, however many tools of it a server lists', () => {
  const inputSchema = schemaOf({
    ...chain(400, (next) => ({ not: next }), inAll(ref('e0'))),
    ...Object.fromEntries(
      Object.entries(chain(30, (next) => inAll(next), {})).map(([name, part]) => [
        name.replace('d', 'e'),
        JSON.parse(JSON.stringify(part).replaceAll('$defs/d', '$defs/e')),
      ]),
    ),
  });
  const tools = Array.from({ length: 500 }, (_, i) => ({ name: `t${i}`, inputSchema: structuredClone(inputSchema) }));
  const began = process.cpuUsage();
  const offered = offeredOf({ name: 'crm', settings: {}, connection: { tools } } as unknown as Server);
  const { user } = process.cpuUsage(began);
  expect(offered.unusable).toHaveLength(500);
  expect(offered.unusable.at(-1)?.why).toMatch(/take up the 200000 characters of a server/);
  expect(user / 1000).toBeLessThan(4000);
});

import { expect, test } from 'vitest';
import { validate } from '../../../kernel/host/schema.ts';
import { offeredOf, type Server } from '../../../plugins/mcp/tools.ts';

const offer = (inputSchema: object) => {
  const tools = [{ name: 'look', inputSchema: { type: 'object', ...inputSchema } }];
  return offeredOf({ name: 'crm', settings: {}, connection: { tools } } as unknown as Server);
};
const parametersOf = (inputSchema: object) => {
  const { tools, unusable } = offer(inputSchema);
  expect(unusable).toEqual([]);
  return tools[0]?.tool.parameters ?? {};
};
const hostile = { type: 'string', pattern: '^(a+)+$' };
const evil = `${'a'.repeat(60)}!`;

// Where it is run, such a pattern takes longer than the age of the universe.
const places: readonly (readonly [where: string, schema: object, args: object])[] = [
  ['of a parameter', { properties: { a: hostile } }, { a: evil }],
  ['of the names of parameters', { patternProperties: { '^(a+)+$': {} }, additionalProperties: false }, { [evil]: 1 }],
  ['of names, as a schema', { propertyNames: hostile }, { [evil]: 1 }],
  ['behind a reference', { properties: { a: { $ref: '#/$defs/x' } }, $defs: { x: hostile } }, { a: evil }],
  ['behind a reference to a keyword of its own', { properties: { a: { $ref: '#/x-parts/x' } }, 'x-parts': { x: hostile } }, { a: evil }],
  ['in a condition', { if: { properties: { a: hostile } }, else: { required: ['b'] } }, { a: evil }],
];
test.each(places)('S18: no regular expression of a server is run by us: one %s', (_, schema, args) => {
  expect(validate(parametersOf(schema), structuredClone(args))).toEqual([]);
});

const values = ['#/properties/b/default', '#/properties/b%2Fdefault', '#/properties/b/enum/0', '#/properties/b/const', '#b', 'https://x/#'];
test.each(values)('S18: a reference to %s, where nobody looked at patterns, makes a tool unusable', ($ref) => {
  const b = { default: hostile, enum: [hostile], const: { ...hostile, $anchor: 'b' } };
  expect(offer({ properties: { a: { $ref }, b } }).unusable).toEqual([
    { tool: 'mcp__crm__look', why: expect.stringMatching(/refer \(\$ref\) to what is no schema of theirs/) },
  ]);
});

test('the model reads patterns and formats as words', () => {
  const day = { type: 'string', description: 'A day', pattern: '^\\d{4}\\-\\d{2}$', format: 'date' };
  expect(parametersOf({ properties: { day, open: { patternProperties: { '^x-': {} } } } })).toMatchObject({
    properties: {
      day: { type: 'string', description: 'A day (pattern ^\\d{4}\\-\\d{2}$; format date)' },
      open: { description: '(names by pattern ^x-)' },
    },
  });
});

test('what was left out makes nothing stricter: alternatives that only patterns tell apart both fit', () => {
  const parts = [
    { type: 'string', pattern: '^a' },
    { type: 'string', pattern: '^b' },
  ];
  const parameters = parametersOf({ properties: { a: { oneOf: parts }, b: { not: { pattern: '^x' } } } });
  expect(validate(parameters, { a: 'abc', b: 'y' })).toEqual([]);
  // Without a pattern all stays as it is.
  const strict = parametersOf({ properties: { a: { oneOf: [{ type: 'string' }, { type: 'string', minLength: 2 }] } } });
  expect(validate(strict, { a: 'abc' })).toHaveLength(1);
});

test.each([
  ['nullable without a type', { properties: { a: { nullable: true, anyOf: [{ type: 'string' }] } } }],
  ['limits as in draft 4', { properties: { a: { type: 'number', minimum: 0, exclusiveMinimum: true } } }],
  ['a pattern that is none with the flag u', { properties: { a: { pattern: '\\-' } } }],
])('a tool with %s is offered', (_, schema) => {
  expect(parametersOf(schema)).toHaveProperty('properties.a');
});

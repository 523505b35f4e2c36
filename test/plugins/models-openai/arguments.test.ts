import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseArguments } from '../../../plugins/models-openai/arguments.ts';

test.each<[string, object]>([
  ['', {}],
  ['  ', {}],
  ['null', {}],
  ['{"a":1}', { a: 1 }],
  ['"{\\"a\\":1}"', { a: 1 }],
  ['{"a":"one\ntwo\tthree"}', { a: 'one\ntwo\tthree' }],
  ['{"a":"C:\\dir \\d+"}', { a: 'C:\\dir \\d+' }],
  ['{"a":"\\u12"}', { a: '\\u12' }],
  ['{"a":"\\\\n\\u0041"}', { a: '\\nA' }],
])('%j is read as %j', (text, expected) => {
  expect(parseArguments(text)).toEqual(expected);
});

test.each(['{"a":', '[1]', '3', '"text"', '{a:1}', '{"a":1}}', "{'a':1}"])('%j goes back to the model as it is', (text) => {
  expect(parseArguments(text)).toEqual({ __invalid: text });
});

test('whatever a model writes, an object comes out, and true JSON is itself', () => {
  fc.assert(fc.property(fc.string(), (text) => typeof parseArguments(text) === 'object'));
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      expect(parseArguments(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { eventReader } from '../../../plugins/models-openai/events.ts';

function eventsOf(pieces: readonly string[]): string[] {
  const events: string[] = [];
  const read = eventReader((data) => events.push(data));
  pieces.forEach(read);
  return events;
}

test.each([
  ['data: a\n\n', ['a']],
  ['data:a\n\ndata:  b\n\n', ['a', ' b']],
  ['event: x\nid: 1\n: comment\ndata: a\nretry: 3\n\n', ['a']],
  ['data: a\ndata: b\n\n', ['a\nb']],
  ['data: a\r\n\r\ndata: b\r\r', ['a']],
  ['data: a\r\n\r\ndata: b\r\r: more', ['a', 'b']],
  ['data:\n\n', ['']],
  ['\n\n: ping\n\n', []],
  ['data: cut', []],
  ['data: cut\n', []],
])('%j holds the events %j', (text, expected) => {
  expect(eventsOf([text])).toEqual(expected);
});

test('a stream means the same however it is cut', () => {
  const line = fc.constantFrom('data: a', 'data: {"b":1}', 'data:', ': c', 'event: d', '', '', 'data: ü😀');
  const text = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r'))).map((lines) => `${lines.map(([a, b]) => a + b).join('')}.`);
  fc.assert(
    fc.property(text, fc.array(fc.nat()), (whole, cuts) => {
      const at = cuts.map((cut) => cut % (whole.length + 1)).toSorted((a, b) => a - b);
      const pieces = [0, ...at].map((start, index) => whole.slice(start, at[index] ?? whole.length));
      expect(eventsOf(pieces)).toEqual(eventsOf([whole]));
    }),
    { numRuns: 300 },
  );
});

test('a line without an end is refused before it fills the memory', () => {
  const read = eventReader(() => {});
  const piece = 'x'.repeat(1024 * 1024);
  expect(() => Array.from({ length: 20 }, () => read(piece))).toThrow(/a line of over/);
});

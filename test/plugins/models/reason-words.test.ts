import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { wordsIn } from '../../../plugins/models/reason-words.ts';

const verdict = 'the verdict';
const texts = (body: string) => wordsIn(body).map(({ value }) => value);

test('a verdict is read whatever comes before it, and wherever the body is cut after it', () => {
  const before = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });
  fc.assert(
    fc.property(before, fc.string(), fc.nat(), (some, more, end) => {
      const body = JSON.stringify({ ...some, error: [{ error: JSON.stringify({ message: verdict }) }], after: more });
      const cut = body.slice(0, Math.max(body.indexOf('"after"'), body.length - (end % 40)));
      expect(texts(cut)).toContain(verdict);
    }),
    { numRuns: 300 },
  );
});

test('whatever a server sends is read without an error, and what is no JSON is one text', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (body) => void wordsIn(body)));
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '\\', 'u', '0', ' ') }), (body) => void wordsIn(body)),
  );
  for (const body of ['[error] bad', '[1, 2] bad', '"m" is bad', 'bad', '<p>bad</p>', '{bad}']) expect(texts(body)).toEqual([body]);
});

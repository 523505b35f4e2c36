import { expect, test } from 'vitest';
import { bareWords } from '../../../plugins/tools-web/bare-words.ts';
import { indented } from '../../../plugins/tools-web/indented.ts';

const words: readonly (readonly [html: string, text: string])[] = [
  ['<h1>A  title</h1>\n\n \t<p class="x">Some <b>words</b></p>', 'A title\nSome words'],
  ['1 < 2 > 3', '1 3'],
  ['no end <', 'no end <'],
  ['<'.repeat(3), '<<<'],
  [`a<${'x'.repeat(3000)}>b<i>c`, `a<${'x'.repeat(3000)}>b c`],
  ['>', '>'],
  ['', ''],
];
test.each(words)('the bare words of %j', (html, text) => expect(bareWords(html)).toEqual({ text, cut: false }));

// Each takes minutes where a character is looked at again for every one before it.
const hostile = ['<', '\f', ' \t', '\n\f', '< >', '<\n', '>', `${'<'.repeat(2001)}>`];
test.each(hostile)('S18: ten million characters of a page made of %j cost no more than looking at them', (piece) => {
  const { text, cut } = bareWords(`<p>first words\n${piece.repeat(10_000_000 / piece.length)}`);
  expect(text).toMatch(/^first words/);
  expect([cut, text.length <= 500_000]).toEqual([true, true]);
});

test('a tag that the cut goes through is left out', () => {
  expect(bareWords(`${'a'.repeat(499_990)}<a href="https://example.org">`)).toEqual({ text: 'a'.repeat(499_990), cut: true });
});

test('JSON is indented where that is little', () => {
  expect(indented('{"a":[1,2]}')).toBe('{\n "a": [\n  1,\n  2\n ]\n}');
  expect(indented('{"a":')).toBe('{"a":');
});

const deep = (depth: number, inner: string) => `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`;
const large = {
  'deep and long': deep(2000, '1,'.repeat(60_000).slice(0, -1)),
  'deep behind brackets in a text': `["${']'.repeat(3000)}\\"",${deep(2000, '1,'.repeat(60_000).slice(0, -1))}]`,
  long: `[${'1,'.repeat(500_000)}1]`,
};
test.each(Object.entries(large))('S18: JSON that would become a hundred times as long stays as it came: %s', (_, raw) => {
  expect(indented(raw)).toBe(raw);
});

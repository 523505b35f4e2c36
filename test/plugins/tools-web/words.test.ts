import { expect, test } from 'vitest';
import { wordsOf } from '../../../plugins/tools-web/contract.ts';

const snippets: readonly (readonly [html: unknown, words: string])[] = [
  ['<strong>Node</strong> &amp; more', 'Node & more'],
  ['a&#39;b &#x27;c&#x27;', "a'b 'c'"],
  ['one\n  two', 'one two'],
  ['&#0;&#99999999;x', '&#99999999;x'],
  ['1 < 2', '1 < 2'],
  [undefined, ''],
];
test.each(snippets)('the words of the snippet %j are %j', (html, words) => expect(wordsOf(html)).toBe(words));

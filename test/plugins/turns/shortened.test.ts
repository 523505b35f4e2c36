import { expect, test } from 'vitest';
import { shortened } from '../../../plugins/turns/shortened.ts';

const mark = '[one of many messages that came at once, shortened]';

test.each([
  ['yes', 'yes'],
  ['  two\nlines ', 'two\nlines'],
  [[{ type: 'text', text: 'just text' }] as const, 'just text'],
  [
    [
      { type: 'text', text: 'look' },
      { type: 'image', data: '', mimeType: 'image/png' },
    ] as const,
    `${mark} look [a picture]`,
  ],
  [`${'a'.repeat(199)}  ${'b'.repeat(50)}`, `${mark} ${'a'.repeat(199)}…`],
  ['👍'.repeat(300), `${mark} ${'👍'.repeat(200)}…`],
])('%j becomes %j', (content, expected) => {
  expect(shortened(content)).toBe(expected);
});

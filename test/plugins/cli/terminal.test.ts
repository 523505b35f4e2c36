import { expect, test } from 'vitest';
import { hanging } from '../../../plugins/cli/contract/terminal.ts';

test.each([
  ['what fits stays as it is', 'two  words', 40, 'two  words'],
  ['what does not fit goes on below itself', 'one two three four five six', 30, 'one two three four\n          five six'],
  ['a line may end just at the edge', 'one two three four12 five', 30, 'one two three four12\n          five'],
  ['an address stays whole', 'at http://127.0.0.1:18789/#token=x', 30, 'at\n          http://127.0.0.1:18789/#token=x'],
  ['a screen too narrow for two columns is let wrap', 'one two three four five', 12, 'one two three four\n          five'],
  ['without a screen nothing is broken', 'one two three four five six', undefined, 'one two three four five six'],
])('%s', (_, text, screen, shown) => {
  expect(hanging(text, 10, screen ?? 0)).toBe(shown);
});

import { expect, test } from 'vitest';
import { titleFrom } from '../../../plugins/sessions/contract.ts';

test.each([
  ['  two\n lines ', 'two lines'],
  [`${'x'.repeat(79)}🦉 and more`, 'x'.repeat(79)],
  [`${'x'.repeat(78)}🦉 and more`, `${'x'.repeat(78)}🦉`],
  ['', ''],
])('%j is called %j', (text, title) => expect(titleFrom(text)).toBe(title));

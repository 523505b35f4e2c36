import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Called, compilePattern, openMentions, patternsOf } from '../../../plugins/routing/mentions.ts';

const named = (name: string, emoji?: string): Called => ({ identity: { name, ...(emoji && { emoji }) } });
const asked = (...mentionPatterns: string[]): Called => ({ identity: { name: 'Claw' }, groupChat: { mentionPatterns } });

const rows: readonly (readonly [what: string, called: Called, text: string, isMentioned: boolean])[] = [
  ['a name', named('Claw'), 'hello Claw!', true],
  ['a name in another case', named('Claw'), 'CLAW, come', true],
  ['a name with @', named('Claw'), 'hi @claw', true],
  ['a part of a word', named('Claw'), 'the clawed one', false],
  ['a part of a word after it', named('Claw'), 'myclaw', false],
  ['a name of several words', named('Mr Claw'), 'ask mr\n claw', true],
  ['a name with signs', named('C.L+'), 'ask C.L+ now', true],
  ['a sign is no wildcard', named('C.L'), 'ask CxL now', false],
  ['a name in Cyrillic', named('Клод'), 'привет, клод', true],
  ['a part of a Cyrillic word', named('Клод'), 'клодово', false],
  ['a name in a script without spaces', named('小爪'), '请小爪帮忙', true],
  ['marks that nobody sees', named('Claw'), 'cl\u200baw?', true],
  ['an emoji', named('Claw', '🦞'), '🦞?', true],
  ['an emoji of several', named('Claw', '👩‍💻'), 'hey 👩‍💻', true],
  ['no name', {}, 'Claw', false],
  ['own patterns replace the name', asked('bot'), 'Claw', false],
  ['own patterns, case ignored', asked('x', '@?Bot\\b'), 'hi BOT', true],
  ['no patterns by choice', asked(), 'Claw', false],
  ['a \\b that JSON has read as a backspace', asked('\bbot\b'), 'the bot.', true],
  ['a phone number', asked('\\+15555550123'), '@+15555550123 hi', true],
  ['escapes of JavaScript', asked('[\\u4e00-\\u9fa5]{2}'), '你好', true],
  ['look-behind', asked('(?<!\\w)bot'), 'robot', false],
];

test.each(rows)('mention patterns: %s', async (_, called, text, isMentioned) => {
  const mention = await openMentions()(called, text);
  expect(mention).toMatchObject({ isMentioned, why: expect.stringMatching(/\w/) });
});

test('the pattern that matched is told, and where it is from', async () => {
  expect(await openMentions()(asked('cat', 'dog'), 'a dog')).toEqual({
    isMentioned: true,
    by: 'dog',
    why: 'the text fits /dog/i of groupChat.mentionPatterns',
  });
  expect((await openMentions()(named('Claw'), 'nobody')).why).toMatch(/fits none of .* of the agent’s identity/);
});

test.each([
  ['(', /the pattern "\(" cannot be used: missing closing \)$/],
  ['a(?=b)', /look-ahead is not supported/],
  ['(a)\\1', /invalid escape sequence/],
  ['[b-a]', /invalid character class range/],
])('the pattern %s is refused with its reason', async (pattern, why) => {
  await expect(compilePattern(pattern)).rejects.toMatchObject({ code: 'MENTION_PATTERN', message: expect.stringMatching(why) });
});

test.each(['(a+)+$', '(a|aa)+$', '(.*a){20}$', '(\\w+\\s?)*!'])(
  'the pattern %s takes no time that grows beyond the text',
  async (pattern) => {
    const regex = await compilePattern(pattern);
    expect(regex.test(`${'a'.repeat(5000)}?`)).toBe(false); // backtracking would take longer than anyone lives
  },
);

test('any name is found as it is written, whatever it is made of', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }), async (name) => {
      const called = named(name);
      if (patternsOf(called).patterns.length === 0) return;
      expect(await openMentions()(called, `so, ${name.trim()} !`)).toMatchObject({ isMentioned: true });
    }),
    { numRuns: 60, examples: [['Ada\u00a0Lovelace'], ['a\u2003b'], ['a\vb']] },
  );
});

import { lstatSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { assert, asyncProperty, dictionary, integer, jsonValue, stringMatching } from 'fast-check';
import JSON5 from 'json5';
import { expect, test } from 'vitest';
import { readText, replaceText, withValue } from '../../../../plugins/cli/plugins/config-edit.ts';
import { folder } from '../../../host/folder.ts';

const off = (text: string, name = 'dice') => withValue(text, ['plugins', 'entries', name, 'enabled'], false);

test.each([
  ['a new file', '{\n}\n', '{\n  plugins: { entries: { dice: { enabled: false } } }\n}\n'],
  ['an empty object', '{}', '{ plugins: { entries: { dice: { enabled: false } } } }'],
  ['one line', '{ a: 1 }', '{ a: 1, plugins: { entries: { dice: { enabled: false } } } }'],
  ['one line with a comma at its end', '{ a: 1, }', '{ a: 1, plugins: { entries: { dice: { enabled: false } } }, }'],
  [
    'lines with comments',
    '// head\n{\n  // first\n  a: 1, // one\n  /* two */\n}\n// tail\n',
    '// head\n{\n  // first\n  a: 1, // one\n  /* two */\n  plugins: { entries: { dice: { enabled: false } } },\n}\n// tail\n',
  ],
  [
    'a comment after a last member without comma',
    '{\n\ta: 1 // one\n}',
    '{\n\ta: 1, // one\n\tplugins: { entries: { dice: { enabled: false } } }\n}',
  ],
  [
    'entries that are there',
    "{\n  plugins: {\n    paths: ['x'],\n    entries: {\n      web: { enabled: false },\n    },\n  },\n}",
    "{\n  plugins: {\n    paths: ['x'],\n    entries: {\n      web: { enabled: false },\n      dice: { enabled: false },\n    },\n  },\n}",
  ],
  [
    'an entry with a config',
    '{ plugins: { entries: { dice: { config: { a: [1] } } } } }',
    '{ plugins: { entries: { dice: { config: { a: [1] }, enabled: false } } } }',
  ],
  ['the value itself', '{plugins:{entries:{dice:{enabled : /* on */ true}}}}', '{plugins:{entries:{dice:{enabled : /* on */ false}}}}'],
  ['a key that is there twice', '{ plugins: 1, plugins: {} }', '{ plugins: 1, plugins: { entries: { dice: { enabled: false } } } }'],
  ['strict JSON', '{\n  "a": "b"\n}\n', '{\n  "a": "b",\n  "plugins": { "entries": { "dice": { "enabled": false } } }\n}\n'],
  ['lines that end in CRLF', '{\r\n  a: 1,\r\n}\r\n', '{\r\n  a: 1,\r\n  plugins: { entries: { dice: { enabled: false } } },\r\n}\r\n'],
  ['an include', "{ $include: './base.json5' }", "{ $include: './base.json5', plugins: { entries: { dice: { enabled: false } } } }"],
])('%s: one value is set, and every other byte stays', async (_, before, after) => {
  expect(await off(before)).toBe(after);
});

test('a name that is no identifier is quoted as the file quotes', async () => {
  expect(await off("{ a: 'b' }", 'my-dice')).toBe("{ a: 'b', plugins: { entries: { 'my-dice': { enabled: false } } } }");
  expect(await off('{ a: "b" }', 'my-dice')).toBe('{ a: "b", plugins: { entries: { "my-dice": { enabled: false } } } }');
});

test.each(['[]', '{ plugins: [] }', '{ plugins: { entries: null } }', '{ plugins: { entries: { dice: 1 } } }'])(
  '%s is not edited, and the way by hand is told',
  async (text) => {
    await expect(off(text)).rejects.toMatchObject({
      message: expect.stringContaining('set plugins.entries.dice.enabled to false by hand'),
    });
  },
);

test('whatever the file holds, the values after an edit are those before and the one that was set', async () => {
  const anything = dictionary(stringMatching(/^[a-z-]{1,6}$/), jsonValue());
  await assert(
    asyncProperty(anything, integer({ min: 0, max: 3 }), async (values, indent) => {
      const { plugins: _, ...rest } = values;
      const edited = await off(JSON5.stringify(rest, null, indent));
      expect(JSON5.parse(edited)).toEqual({ ...JSON5.parse(JSON5.stringify(rest)), plugins: { entries: { dice: { enabled: false } } } });
    }),
    { numRuns: 200 },
  );
});

test('a file that was changed meanwhile is kept, and told', async () => {
  await using home = await folder({ 'instar.json5': '{}' });
  const file = home.at('instar.json5');
  const before = readText(file);
  await home.write({ 'instar.json5': '{ mine: 1 }' });
  expect(() => replaceText(file, before, '{ a: 1 }')).toThrow(/was changed meanwhile/);
  expect(readFileSync(file, 'utf8')).toBe('{ mine: 1 }');
  expect(() => replaceText(file, undefined, '{ a: 1 }')).toThrow(/was changed meanwhile/);
});

test('the mode of the file and a link to it stay', async () => {
  await using home = await folder({ 'real.json5': '{}' });
  symlinkSync(home.at('real.json5'), home.at('instar.json5'));
  const { mode } = statSync(home.at('real.json5'));
  replaceText(home.at('instar.json5'), '{}', '{ a: 1 }');
  expect(lstatSync(home.at('instar.json5')).isSymbolicLink()).toBe(true);
  expect([readFileSync(home.at('real.json5'), 'utf8'), statSync(home.at('real.json5')).mode]).toEqual(['{ a: 1 }', mode]);
});

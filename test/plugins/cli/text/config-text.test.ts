import { mkdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { readConfig } from '../../../../plugins/cli/text/config-text.ts';
import { ConfigError } from '../../../../kernel/host/schema.ts';
import { folder } from '../../../host/folder.ts';

const read = (file: string, env = {}) => readConfig(file, env);

/** The one line that reading fails with, relative to the folder. */
function failure(path: string, file: string): string {
  try {
    read(file);
  } catch (error) {
    return (error as Error).message.replaceAll(`${path}/`, '');
  }
  throw new Error('it was read');
}

test('a config is JSON5: comments, bare keys, trailing commas, a byte order mark', async () => {
  await using home = await folder({ 'a.json5': "\u{feff}{ // what\n a: 'x', b: [1, 0x10,], 'c d': +.5, }" });
  expect(read(home.at('a.json5')).values).toEqual({ a: 'x', b: [1, 16], 'c d': 0.5 });
});

test('no config file is an empty config', () => {
  const { values, problems, place } = readConfig(undefined, {});
  expect({ values, problems, place: place('agents.list') }).toEqual({ values: {}, problems: [], place: 'agents.list' });
});

test.each([
  [
    'U004: a missing brace',
    "{ agents: { list: [ { id: 'main' }",
    "a.json5:1:35: invalid end of input in `{ agents: { list: [ { id: 'main' }`; a } or ] is missing, or move the file away to start without it",
  ],
  [
    'a missing comma',
    '{\n  a: 1\n  b: 2\n}',
    "a.json5:3:3: invalid character 'b' in `b: 2`; mend it, or move the file away to start without it",
  ],
  [
    'an empty file, as a writer leaves it for a moment',
    '',
    'a.json5:1:1: invalid end of input in ``; a } or ] is missing, or move the file away to start without it',
  ],
  ['a list', '[1]', 'a.json5: the config must be an object { … }'],
  ['a prototype key', '{\n a: {\n  "__proto__": { x: 1 } } }', 'a.json5:3:3: the key "__proto__" is not allowed; rename it'],
  [
    'an include that is not there',
    '{\n a: { $include: "./no.json5" } }',
    "a.json5:2:7: cannot read no.json5: ENOENT: no such file or directory, stat 'no.json5'",
  ],
  ['an include of a folder', '{ $include: "./folder" }', 'a.json5:1:3: cannot read folder: it is not a regular file'],
  ['an include that names a number', '{ $include: [3] }', 'a.json5:1:3: $include must be a file name or a list of them'],
  [
    'a fault in an included file',
    '{ a: { $include: "bad.json5" } }',
    "bad.json5:2:1: invalid character '}' in `}`; mend it, or move the file away to start without it",
  ],
  [
    'keys beside an included list',
    '{ a: { $include: "list.json5", b: 1 } }',
    'a.json5:1:8: keys beside $include need an included file that holds an object',
  ],
  ['files that include each other', '{ $include: "b.json5" }', 'b.json5:1:3: includes itself: a.json5 -> b.json5 -> a.json5'],
  [
    'text that is not UTF-8',
    Buffer.from([0x7b, 0xff, 0x7d]),
    'a.json5: cannot read a.json5: The encoded data was not valid for encoding utf-8',
  ],
])('%s is refused in one line', async (_, text, line) => {
  const others = { 'bad.json5': '{ a:\n}', 'list.json5': '[1]', 'b.json5': '{ $include: "a.json5" }' };
  await using home = await folder({ 'a.json5': text, ...others });
  await mkdir(home.at('folder'));
  expect(failure(home.path, home.at('a.json5'))).toBe(line);
});

test('includes nested deeper than 10 are refused', async () => {
  const chain = Array.from({ length: 12 }, (_, i) => [`${i}.json5`, `{ $include: "${i + 1}.json5" }`]);
  await using home = await folder({ ...Object.fromEntries(chain), '12.json5': '{}' });
  expect(failure(home.path, home.at('0.json5'))).toBe('10.json5:1:3: includes are nested deeper than 10');
});

test('SPEC 1.6: includes are merged: objects deeply, lists joined, of anything else the later wins, keys beside them last', async () => {
  await using home = await folder({
    'main.json5': '{ $include: ["base.json5", "sub/more.json5"], name: "main", deep: { c: 3 } }',
    'base.json5': '{ name: "base", list: [1], deep: { a: 1, b: 1 } }',
    'sub/more.json5': '{ list: [2], deep: { b: 2 }, own: { $include: "./own.json5" } }',
    'sub/own.json5': '[{ $include: "leaf.json5" }, "x"]',
    'sub/leaf.json5': '"leaf"',
  });
  const { values, texts } = read(home.at('main.json5'));
  expect(values).toEqual({ name: 'main', list: [1, 2], deep: { a: 1, b: 2, c: 3 }, own: ['leaf', 'x'] });
  expect([...texts.keys()].map((file) => file.slice(home.path.length + 1))).toEqual(
    'main.json5 base.json5 sub/more.json5 sub/own.json5 sub/leaf.json5'.split(' '),
  );
});

test('SPEC 1.6: ${VAR} is filled in, $${VAR} stays text, other dollars stay as they are', async () => {
  await using home = await folder({ 'a.json5': '{ a: "${A_1}-${_B}", b: "$${A_1}", c: "$A ${a} ${} $$", d: ["${A_1}"], "${A_1}": 1 }' });
  const { values, problems } = read(home.at('a.json5'), { A_1: 'one', _B: '${A_1}' });
  expect({ values, problems }).toEqual({
    values: { a: 'one-${A_1}', b: '${A_1}', c: '$A ${a} ${} $$', d: ['one'], '${A_1}': 1 },
    problems: [],
  });
});

test('U005: a variable that is not set, or is empty, is a problem that names it and its config path', async () => {
  await using home = await folder({
    'a.json5': '{\n models: { providers: { p: { apiKey: "${NOT_SET}" } } },\n list: [{ x: "${EMPTY}" }] }',
  });
  const text = read(home.at('a.json5'), { EMPTY: '' });
  const cure = (name: string) => `set it, or add ${name}=… to the .env file of the state folder`;
  expect(new ConfigError(text.problems, text.place).message.split('\n').map((line) => line.replace(`${home.path}/`, ''))).toEqual([
    `a.json5:2:30 models.providers.p.apiKey: the environment variable NOT_SET is not set; ${cure('NOT_SET')}`,
    `a.json5:3:11 list[0].x: the environment variable EMPTY is not set; ${cure('EMPTY')}`,
  ]);
});

test('SPEC 1.3: a config path has its place in the file that wrote it, or that of its nearest written parent', async () => {
  await using home = await folder({
    'main.json5':
      '{\n  $include: "base.json5",\n  agents: {\n    list: [\n      { id: "a" },\n      { $include: "b.json5" },\n    ],\n  },\n  deep: { b: 2 },\n}',
    'base.json5': '// base\n{ deep: { a: 1, b: 1 },\n  "odd key": { "1": 1 } }',
    'b.json5': '{\n  id: "b",\n}',
  });
  const { place } = read(home.at('main.json5'));
  const places = {
    agents: 'main.json5:3:3',
    'agents.list': 'main.json5:4:5',
    'agents.list[0]': 'main.json5:5:7',
    'agents.list[0].id': 'main.json5:5:9',
    'agents.list[0].modle': 'main.json5:5:7',
    'agents.list[1].id': 'b.json5:2:3',
    'deep.a': 'base.json5:2:11',
    'deep.b': 'main.json5:9:11',
    '["odd key"][1]': 'base.json5:3:16',
    nothing: 'nothing',
  };
  const found = Object.keys(places).map((path) => [path, place(path).replace(`${home.path}/`, '')]);
  expect(Object.fromEntries(found)).toEqual(places);
});

test('a config can be read again from the texts that it was made of', async () => {
  await using home = await folder({ 'a.json5': '{ $include: "b.json5" }', 'b.json5': '{ x: "${X}" }' });
  const first = read(home.at('a.json5'), { X: '1' });
  await home.write({ 'b.json5': 'broken' });
  expect(readConfig(home.at('a.json5'), { X: '2' }, (file) => first.texts.get(file) ?? '').values).toEqual({ x: '2' });
});

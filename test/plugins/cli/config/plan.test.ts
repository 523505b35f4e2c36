import { assert, constantFrom, integer, jsonValue, oneof, property, stringMatching } from 'fast-check';
import JSON5 from 'json5';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { parseDocument } from '../../../../plugins/cli/config/document.ts';
import { openTree, type Tree, valueAt } from '../../../../plugins/cli/config/layers.ts';
import { parsePath } from '../../../../plugins/cli/config/path.ts';
import { follow, planSet, planUnset } from '../../../../plugins/cli/config/plan.ts';
import { commentsOf, json5Text } from './json5-text.ts';

const treeOf = (text: string, others: Readonly<Record<string, string>> = {}): Tree =>
  openTree('/c/main', (file) => ({ '/c/main': text, ...others })[file]);
const set = (text: string, path: string, value: unknown) => planSet(treeOf(text), parsePath(path), value).after;
const unset = (text: string, path: string) => planUnset(treeOf(text), parsePath(path))?.after;

type Keys = readonly string[];
const steps = (keys: Keys) => keys.map((key) => ({ key, isBare: false }));

/** Every way into a value, the root's not. */
function waysInto(value: unknown, keys: Keys = []): readonly Keys[] {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return inner.flatMap(([key, at]) => [[...keys, key], ...waysInto(at, [...keys, key])]);
}

/** An oracle that knows nothing of texts. */
function withChange(value: unknown, [key = '', ...rest]: Keys, change: (holder: Holder, key: string) => void): unknown {
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }) as Holder;
  if (rest.length === 0) change(copy, key);
  else copy[key] = withChange(copy[key], rest, change);
  return copy;
}

type Holder = Record<string, unknown>;

const values = oneof(jsonValue({ maxDepth: 2 }), constantFrom(Infinity, -Infinity, NaN, -0, "it's", 'say "x"', '\u2028\u0000\\', '${VAR}'));
const runs = { numRuns: 250 };

/** JSON5 advises against U+2028 in strings, and reads it. */
beforeAll(() => void vi.spyOn(console, 'warn').mockImplementation(() => {}));

/** Where a value stands, by the scanner, which `reads what JSON5 reads` holds against JSON5. */
const nodeOf = (text: string, keys: Keys) => follow(treeOf(text), steps(keys)).layers[0].node;

describe('over all of JSON5', () => {
  test('the scanner reads what JSON5 reads, at every place', () => {
    assert(
      property(json5Text, (text) => {
        for (const keys of waysInto(JSON5.parse(text))) {
          const { start, end } = nodeOf(text, keys);
          expect(JSON5.parse(text.slice(start, end))).toEqual(dig(JSON5.parse(text), keys));
        }
        expect(valueAt(treeOf(text), treeOf(text).root)).toEqual(JSON5.parse(text));
      }),
      runs,
    );
  });

  test('what is set has the value, every byte outside of it stays, and comments with it', () => {
    assert(
      property(json5Text, values, integer({ min: 0 }), (text, value, pick) => {
        const ways = waysInto(JSON5.parse(text));
        const keys = ways[pick % ways.length];
        if (!keys) return;
        const { after } = planSet(treeOf(text), steps(keys), value);
        expect(JSON5.parse(after)).toEqual(withChange(JSON5.parse(text), keys, (holder, key) => (holder[key] = value)));
        const { start, end } = nodeOf(text, keys);
        expect(after.startsWith(text.slice(0, start))).toBe(true);
        expect(after.endsWith(text.slice(end))).toBe(true);
        expect(JSON5.parse(after.slice(start, after.length - (text.length - end)))).toEqual(value);
      }),
      runs,
    );
  });

  test('a new key or element is added, and nothing that was there is touched', () => {
    const fresh = stringMatching(/^new[a-z .'"-]{0,4}$/);
    assert(
      property(json5Text, values, fresh, integer({ min: 0 }), (text, value, name, pick) => {
        const root = JSON5.parse<unknown>(text);
        const holders = [[], ...waysInto(root)].filter((keys) => Object(dig(root, keys)) === dig(root, keys));
        const keys = holders[pick % holders.length] ?? [];
        const isList = Array.isArray(dig(root, keys));
        const key = isList ? String((dig(root, keys) as unknown[]).length) : name;
        const { after } = planSet(treeOf(text), steps([...keys, key]), value);
        expect(JSON5.parse(after)).toEqual(withChange(root, [...keys, key], (holder, at) => (holder[at] = value)));
        expect(commentsOf(after).filter((one) => !JSON.stringify(value).includes(one))).toEqual(
          commentsOf(text).filter((one) => !JSON.stringify(value).includes(one)),
        );
        expect(isSubsequence(text, after)).toBe(true);
      }),
      runs,
    );
  });

  test('what is taken out is gone, with white space and commas at most; all else stays, and every comment outside of it', () => {
    assert(
      property(json5Text, integer({ min: 0 }), (text, pick) => {
        const root = JSON5.parse<unknown>(text);
        const ways = waysInto(root);
        const keys = ways[pick % ways.length];
        if (!keys) return;
        const after = planUnset(treeOf(text), steps(keys))?.after ?? '';
        const remove = (holder: Holder, key: string) => void (Array.isArray(holder) ? holder.splice(Number(key), 1) : delete holder[key]);
        expect(JSON5.parse(after)).toEqual(withChange(root, keys, remove));
        expect(isSubsequence(after, text)).toBe(true);
        const gone = leftOver(text, keys);
        if (gone !== undefined) expect(after.replace(/[\s,\uFEFF]/g, '')).toBe(gone.replace(/[\s,\uFEFF]/g, ''));
      }),
      runs,
    );
  });

  test('set and then unset a new key leaves a text that differs in a comma at most', () => {
    assert(
      property(json5Text, values, (text, value) => {
        const there = planSet(treeOf(text), steps(['new key']), value).after;
        const back = planUnset(treeOf(there), steps(['new key']))?.after ?? '';
        expect(JSON5.parse(back)).toEqual(JSON5.parse(text));
        expect(back.replace(/[\s,\uFEFF]/g, '')).toBe(text.replace(/[\s,\uFEFF]/g, ''));
      }),
      runs,
    );
  });
});

const dig = (value: unknown, keys: Keys) => keys.reduce((at, key) => (at as Holder)[key], value);

/** The text without the member itself, where it is written once. */
function leftOver(text: string, keys: Keys): string | undefined {
  const { held } = follow(treeOf(text), steps(keys));
  const { part, into } = held[0] ?? {};
  if (!part || !into || into.parts.filter(({ key }) => key === part.key).length > 1) return undefined;
  return text.slice(0, part.start) + text.slice(part.value.end);
}

function isSubsequence(short: string, long: string): boolean {
  let at = 0;
  for (const character of long) if (short.startsWith(character, at)) at += character.length;
  return at === short.length;
}

const off = (text: string, name = 'dice') => planSet(treeOf(text), steps(['plugins', 'entries', name, 'enabled']), false).after;

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
  ['a BOM', '\uFEFF{ a: 1 }', '\uFEFF{ a: 1, plugins: { entries: { dice: { enabled: false } } } }'],
  ['dense JSON', '{"a":1}', '{"a":1, "plugins":{ "entries":{ "dice":{ "enabled":false } } }}'],
])('%s: one value is set, and every other byte stays', (_, before, after) => {
  expect(off(before)).toBe(after);
});

test('a name that is no identifier is quoted as the file quotes', () => {
  expect(off("{ a: 'b' }", 'my-dice')).toBe("{ a: 'b', plugins: { entries: { 'my-dice': { enabled: false } } } }");
  expect(off('{ a: "b" }', 'my-dice')).toBe('{ a: "b", plugins: { entries: { "my-dice": { enabled: false } } } }');
});

const agents = `{
  agents: {
    // all
    list: [
      { id: 'main', model: "a/b", name: 'M' }, // first
      { id: 'ops' },
    ],
  },
}
`;

test.each([
  ['a string keeps its quotes', 'agents.list[0].model', "it's", agents.replace('"a/b"', '"it\'s"')],
  ['an element by its id', 'agents.list[main].name', "it's", agents.replace("'M'", "'it\\'s'")],
  ['a key more in one', 'agents.list[ops].model', 'x', agents.replace("{ id: 'ops' }", "{ id: 'ops', model: 'x' }")],
  ['an element more', 'agents.list[+]', { id: 'new' }, agents.replace("'ops' },\n", "'ops' },\n      { id: 'new' },\n")],
  ['a list that is not there', 'agents.list[ops].allow[+]', 'x', agents.replace("'ops' }", "'ops', allow: ['x'] }")],
  ['deeper than anything', 'gateway["a b"].c', 1, agents.replace('  },\n}', "  },\n  gateway: { 'a b': { c: 1 } },\n}")],
])('%s', (_, path, value, after) => {
  expect(set(agents, path, value)).toBe(after);
});

test('a long value takes lines of its own, indented as the file is', () => {
  const value = { list: Array.from({ length: 4 }, (_, i) => `an element of some length, number ${i}`) };
  expect(set('{\n\ta: 1,\n}', 'b', value)).toBe(
    `{\n\ta: 1,\n\tb: {\n\t\tlist: [\n${value.list.map((one) => `\t\t\t'${one}',\n`).join('')}\t\t],\n\t},\n}`,
  );
});

test.each([
  ['a line', '{\n  a: 1, // one\n  b: 2,\n  c: 3\n}', 'b', '{\n  a: 1, // one\n  c: 3\n}'],
  ['the last line, and the comma that would trail', '{\n  "a": 1,\n  "b": 2\n}', 'b', '{\n  "a": 1\n}'],
  ['the last line of a file that trails commas', '{\n  a: 1,\n  b: 2,\n}', 'b', '{\n  a: 1,\n}'],
  ['its comment stays', '{\n  a: 1, // one\n  b: 2, // two\n}', 'a', '{\n  // one\n  b: 2, // two\n}'],
  ['in one line', '{ a: 1, b: 2, c: 3 }', 'b', '{ a: 1, c: 3 }'],
  ['the first in one line', '{ a: 1, b: 2 }', 'a', '{ b: 2 }'],
  ['the last in one line', '{ a: 1, b: 2 }', 'b', '{ a: 1 }'],
  ['the only one', '{ a: 1 }', 'a', '{ }'],
  ['an element', "{ l: ['a', 'b', 'c'] }", 'l[1]', "{ l: ['a', 'c'] }"],
  ['a key that is written twice', '{ a: 1, b: 2, a: 3 }', 'a', '{ b: 2 }'],
])('%s is taken out', (_, before, path, after) => {
  expect(unset(before, path)).toBe(after);
});

test('what is not there is not taken out', () => {
  expect(unset('{ a: [1] }', 'b')).toBeUndefined();
  expect(unset('{ a: [1] }', 'a[1]')).toBeUndefined();
});

test.each([
  ['{ a: 1 }', 'a.b', /a \(\/c\/main:1:6\) holds a single value/],
  ['{ a: [] }', 'a[1]', /a has 0 elements/],
  ["{ a: [{ id: 'main' }] }", 'a[mian].b', /no element whose id is "mian"; did you mean "main"\?/],
  ['{}', 'a[main].b', /no list yet that could have \[main\]/],
  ['{}', 'a.$include', /what is included/],
  ['{}', 'a..b', /cannot be read after "a"/],
  ['{}', '', /empty path/],
  ['{}', 'a[', /cannot be read after "a"/],
  ['{}', '.a', /./],
])('%s: %s is refused with what to do', (text, path, message) => {
  if (path === '.a') expect(set(text, path, 1)).toBe('{ a: 1 }');
  else expect(() => set(text, path, 1)).toThrow(message);
});

describe('SPEC 1.6: what is included', () => {
  const main =
    "{\n  models: { $include: './models.json5' },\n  agents: { list: [{ id: 'a' }, { $include: 'b.json5' }], x: 1, $include: ['./c', './d'] },\n}";
  const files = {
    '/c/models.json5': "// mine\n{ providers: { p: { apiKey: '${KEY}', deep: { $include: 'e' } } } }",
    '/c/b.json5': "{ id: 'b', model: 'm' }",
    '/c/c': "{ x: 0, list: [{ id: 'z' }], only: 'c' }",
    '/c/d': '{ y: 2 }',
    '/c/e': '{ f: 1 }',
  };
  const tree = () => treeOf(main, files);

  test.each([
    ['models.providers.p.apiKey', '/c/models.json5'],
    ['models.providers.q.baseUrl', '/c/models.json5'],
    ['models.providers.p.deep.f', '/c/e'],
    ['agents.list[b].model', '/c/b.json5'],
    ['agents.list[z].model', '/c/c'],
    ['agents.only', '/c/c'],
    ['agents.y', '/c/d'],
    ['agents.x', '/c/main'],
    ['agents.new', '/c/main'],
    ['gateway.port', '/c/main'],
  ])('U014 U015: %s is written to %s, and to no other file', (path, file) => {
    const plan = planSet(tree(), parsePath(path), 'new');
    expect(plan.file).toBe(file);
    const all = { '/c/main': main, ...files, [plan.file]: plan.after };
    const now = openTree('/c/main', (one) => all[one as keyof typeof all]);
    const { layers, rest } = follow(now, parsePath(path));
    expect([rest, valueAt(now, layers)]).toEqual([[], 'new']);
  });

  test('the whole is what the gateway reads, lists joined and objects merged', () => {
    expect(valueAt(tree(), tree().root)).toEqual({
      models: { providers: { p: { apiKey: '${KEY}', deep: { f: 1 } } } },
      agents: { x: 1, y: 2, only: 'c', list: [{ id: 'z' }, { id: 'a' }, { id: 'b', model: 'm' }] },
    });
  });

  test('an include is taken out with the key that it stands for, where it is written', () => {
    expect(planUnset(tree(), parsePath('models'))).toMatchObject({ file: '/c/main', after: main.replace(/ {2}models.*\n/, '') });
  });

  test('a file that includes itself ends with an error', () => {
    expect(() => treeOf("{ $include: './main' }")).toThrow(/deeper than 10/);
    expect(() => treeOf("{ $include: './gone' }")).toThrow(/\/c\/gone cannot be read/);
  });
});

test('what no JSON5 is is told with its place', () => {
  expect(() => treeOf('{\n  a: \n}')).toThrow(/^\/c\/main:3:1: invalid character/);
  expect(() => parseDocument('{')).toThrow(/end of input/);
});

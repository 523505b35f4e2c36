import { array, type Arbitrary, boolean, constantFrom, letrec, oneof, record, string, tuple } from 'fast-check';

/** Everything between two tokens that JSON5 passes over. */
const gap = array(
  oneof(
    { weight: 6, arbitrary: constantFrom('', ' ', '\n', '\r\n', '\t', '  ', '\n  ') },
    constantFrom('/* c */', '// l\n', '//\r\n', '/* { " */', "// it's [\n", '/**/', '\u00a0', '// u\u2028', '\r', '\v\f'),
  ),
  { maxLength: 3 },
).map((parts) => parts.join(''));

const numbers = ['0', '1', '+.5', '-.5', '5.', '0x1F', '-0xff', 'Infinity', '-Infinity', 'NaN', '1e3', '-2.5E-2', '+7'];
const oddStrings = [
  '"a\\\nb"',
  "'a\\\r\nb'",
  "'\\x41\\u0042\\0'",
  '"\\\'\\""',
  "'// no comment'",
  '"/* none */ }"',
  "'${VAR}'",
  "'it\\'s'",
  '"\u2028"',
  "''",
];
const leaf = oneof(
  constantFrom(...numbers, ...oddStrings, 'true', 'false', 'null'),
  string({ maxLength: 6 }).map((text) => JSON.stringify(text)),
);

const names = ['a', 'b', '$c', '_d', 'é', 'with_1', '\\u0061x', 'Infinity', 'null'];
const key = oneof(
  constantFrom(...names, "'a b'", '"a"', "'b'", '"x.y"', "'it\\'s'", '"[0]"', "'\\x41'"),
  string({ maxLength: 4 }).map((text) => JSON.stringify(text)),
).filter((text) => !text.includes('__proto__') && !text.includes('$include'));

const joined = (parts: readonly string[], hasTail: boolean, before: string) =>
  parts.join(',') + (hasTail && parts.length ? `,${before}` : before);

const { object } = letrec<{ value: string; object: string; list: string }>((tie) => ({
  value: oneof({ maxDepth: 3, depthIdentifier: 'json5' }, leaf, tie('object'), tie('list')),
  object: tuple(array(tuple(gap, key, gap, gap, tie('value'), gap), { maxLength: 4, depthIdentifier: 'json5' }), boolean(), gap).map(
    ([members, hasTail, end]) =>
      `{${joined(
        members.map(([a, name, b, c, value, d]) => `${a}${name}${b}:${c}${value}${d}`),
        hasTail,
        end,
      )}}`,
  ),
  list: tuple(array(tuple(gap, tie('value'), gap), { maxLength: 4, depthIdentifier: 'json5' }), boolean(), gap).map(
    ([items, hasTail, end]) =>
      `[${joined(
        items.map(([a, value, b]) => a + value + b),
        hasTail,
        end,
      )}]`,
  ),
}));

/** JSON5 texts with an object at their root, in every way that people and programs write them. */
export const json5Text: Arbitrary<string> = record({ bom: constantFrom('', '', '\uFEFF'), before: gap, root: object, after: gap }).map(
  ({ bom, before, root, after }) => bom + before + root + after,
);

/** The comments of a text, by a reader of its own. */
export function commentsOf(text: string): readonly string[] {
  const tokens = text.matchAll(/"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|(\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\/)/g);
  return [...tokens].flatMap(([, comment]) => comment ?? []);
}

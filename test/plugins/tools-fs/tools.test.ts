import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import toolsFs from '../../../plugins/tools-fs/index.ts';
import { allowAll, textOf, toolbench, type Toolbench } from '../../support/toolbench.ts';

const boot = (options = {}) => toolbench([toolsFs, allowAll], {}, options);

async function put(bench: Toolbench, name: string, content: string | Buffer) {
  await mkdir(bench.workspace, { recursive: true });
  await writeFile(join(bench.workspace, name), content);
}
const get = (bench: Toolbench, name: string) => readFile(join(bench.workspace, name), 'utf8');

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

test('SPEC 2.1: the workspace is made by the first write, and read back', async () => {
  await using bench = await boot();
  expect(textOf(await bench.call('read', { path: 'a.txt' }))).toContain('the workspace is empty so far');
  expect(textOf(await bench.call('write', { path: 'deep/er/a.txt', content: 'one\ntwo\n' }))).toBe('Created deep/er/a.txt (8 bytes)');
  expect(await bench.call('read', { path: 'deep/er/a.txt' })).toEqual({ content: [{ type: 'text', text: 'one\ntwo\n' }] });
  expect(textOf(await bench.call('write', { path: 'deep/er/a.txt', content: 'x' }))).toContain('Replaced');
});

test('a write keeps the mode, leaves no draft behind, and respects a read-only folder of names', async () => {
  await using bench = await boot();
  await put(bench, 'run.sh', 'old');
  await chmod(join(bench.workspace, 'run.sh'), 0o751);
  await bench.call('write', { path: 'run.sh', content: 'new' });
  expect((await stat(join(bench.workspace, 'run.sh'))).mode & 0o777).toBe(0o751);
  expect(textOf(await bench.call('write', { path: '.', content: '' }))).toContain('is a folder');
  expect(await readdir(bench.workspace)).toEqual(['run.sh']);
});

const many = Array.from({ length: 5000 }, (_, i) => `line ${i + 1}`).join('\n');
const readings: readonly (readonly [what: string, file: string | Buffer, args: object, text: RegExp | string])[] = [
  ['a range of lines', 'a\nb\nc\nd\n', { offset: 2, limit: 2 }, /^b\nc\n\[lines 2-3 of a file of 8 bytes; more with offset 4\]$/],
  ['a last line without an end', 'a\nb', { offset: 2 }, 'b'],
  ['an offset past the end', 'a\nb\n', { offset: 9 }, /has 2 lines; line 9 is past its end/],
  ['an offset past the end of a last line without an end', 'a\nb', { offset: 9 }, /has 2 lines; line 9 is past its end/],
  ['an empty file', '', {}, /is empty/],
  ['more than 2000 lines', many, {}, /line 2000\n\[lines 1-2000 .*more with offset 2001\]$/],
  ['the rest of a long file', many, { offset: 4999 }, 'line 4999\nline 5000'],
  ['lines over the byte cap', `${'x'.repeat(30_000)}\n${'y'.repeat(30_000)}\n`, {}, /^x{30000}\n\[lines 1-1 .*offset 2\]$/],
  ['one line over the byte cap', 'é'.repeat(40_000), {}, /é\n\[line 1 is longer than 50000 bytes and was cut/],
  ['Windows line ends', 'a\r\nb\r\n', {}, 'a\nb\n'],
  ['a binary file', Buffer.from([1, 2, 0, 3]), {}, /binary file of 4 bytes/],
];
test.each(readings)('SPEC 2.1: read shows %s', async (_, file, args, expected) => {
  await using bench = await boot();
  await put(bench, 'f', file);
  const shown = textOf(await bench.call('read', { path: 'f', ...args }));
  expect(shown).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected));
});

test('read returns an image as an image, and as a note to a model that takes none', async () => {
  await using seeing = await boot();
  await put(seeing, 'pic.txt', png);
  const image = { type: 'image', data: png.toString('base64'), mimeType: 'image/png' };
  expect((await seeing.call('read', { path: 'pic.txt' })).content[1]).toEqual(image);
  await using blind = await boot({ input: ['text'] });
  await put(blind, 'pic.png', png);
  expect(textOf(await blind.call('read', { path: 'pic.png' }))).toContain('takes no images');
});

test('read lists a folder, folders marked, long ones cut visibly', async () => {
  await using bench = await boot();
  await mkdir(join(bench.workspace, 'sub'), { recursive: true });
  await put(bench, 'a.txt', '');
  expect(textOf(await bench.call('read', { path: '.' }))).toBe('a.txt\nsub/');
  expect(textOf(await bench.call('read', { path: 'sub' }))).toBe('[the folder is empty]');
  for (let i = 0; i < 501; i++) await put(bench, `sub/${i}`, '');
  expect(textOf(await bench.call('read', { path: 'sub' }))).toContain('[1 more entries are not shown');
});

const code = 'function a() {\n  return 1;\n}\n\nfunction b() {\n  return 1;\n}\n';
const edits: readonly (readonly [what: string, file: string, oldText: string, newText: string, after: string])[] = [
  ['an exact passage', code, 'function a() {\n  return 1;', 'function a() {\n  return 2;', code.replace('1', '2')],
  ['a part of a line', 'let x = 1;\n', 'x = 1', 'x = 2', 'let x = 2;\n'],
  ['text with $& in it', 'a\n', 'a', '$&$1', '$&$1\n'],
  ['lost indentation', '  if (x) {\n    y();\n  }\n', 'if (x) {\n  y();\n}', 'if (x) {\n  z();\n}', '  if (x) {\n    z();\n  }\n'],
  ['trailing blanks', 'a  \nb\t\nc\n', 'a\nb', 'A\nB', 'A\nB\nc\n'],
  ['typographic quotes', 'say “hi”\n', 'say "hi"', 'say "ho"', 'say "ho"\n'],
  ['Windows line ends', 'a\r\nb\r\nc\r\n', 'a\nb', 'A\nB', 'A\r\nB\r\nc\r\n'],
  ['a removal', 'a\nb\nc\n', 'b\n', '', 'a\nc\n'],
  ['a byte order mark', '\uFEFFa\nb\n', 'b', 'c', '\uFEFFa\nc\n'],
];
test.each(edits)('SPEC 2.1: edit replaces %s', async (_, file, oldText, newText, after) => {
  await using bench = await boot();
  await put(bench, 'f', file);
  const result = await bench.call('edit', { path: 'f', oldText, newText });
  expect([textOf(result), await get(bench, 'f')]).toEqual([expect.stringMatching(/^Edited f at line \d+/), after]);
});

const failing: readonly (readonly [what: string, file: string | Buffer, args: object, text: RegExp])[] = [
  ['an ambiguous passage', code, { oldText: 'return 1;', newText: 'x' }, /more than once \(lines 2, 6\)/],
  ['an ambiguous tolerant passage', 'a b\na  b\n', { oldText: 'a   b', newText: 'x' }, /more than once \(lines 1, 2\)/],
  [
    'a near miss',
    code,
    { oldText: 'function b() {\n  return 3;', newText: 'x' },
    /Nearest, from line 5:[^]*line 6: the file has "  return 1;", you gave "  return 3;"/,
  ],
  ['nothing alike', code, { oldText: 'SELECT * FROM t', newText: 'x' }, /Nothing like it is in the 8 lines/],
  ['the same text', code, { oldText: 'a', newText: 'a' }, /are the same/],
  ['bytes that are not text', Buffer.from([0xff, 0xfe, 0x41]), { oldText: 'A', newText: 'B' }, /not UTF-8 text/],
  ['wrong arguments', code, { old: 'A', newText: 'B' }, /wrong arguments for edit: .*"oldText" is missing.*unknown key "old"/],
];
test.each(failing)('SPEC 2.2: edit answers %s with what to do, and changes nothing', async (_, file, args, expected) => {
  await using bench = await boot();
  await put(bench, 'f', file);
  const result = await bench.call('edit', { path: 'f', ...args });
  expect(result.isError).toBe(true);
  expect(textOf(result)).toMatch(expected);
  expect(await readFile(join(bench.workspace, 'f'))).toEqual(Buffer.from(file));
});

test('a hopeless edit of a large file is answered in time', async () => {
  await using bench = await boot();
  await put(bench, 'f', 'some words of a line\n'.repeat(20_000));
  const oldText = 'other text altogether\n'.repeat(200);
  expect((await bench.call('edit', { path: 'f', oldText, newText: 'x' })).isError).toBe(true);
});

test('an offered file tool costs less than 600 bytes of the request, and apply_patch less than 800', async () => {
  await using bench = await boot();
  const { tools } = await bench.test.kernel.run((run) => run.tools());
  const sizes = tools.map(({ name, description, parameters }) => [name, JSON.stringify({ name, description, parameters }).length] as const);
  expect(sizes.filter(([name, bytes]) => bytes >= (name === 'apply_patch' ? 800 : 600))).toEqual([]);
});

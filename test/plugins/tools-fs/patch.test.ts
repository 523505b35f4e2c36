import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isCoded } from '../../../kernel/index.ts';
import toolsFs from '../../../plugins/tools-fs/index.ts';
import { type FileChange, type Hunk, parsePatch, renderPatch } from '../../../plugins/tools-fs/patch.ts';
import { allowAll, textOf, toolbench } from '../../support/toolbench.ts';

const line = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !/[\r\n]/.test(text));
const path = fc.stringMatching(/^[a-z][a-z/. -]{0,10}[a-z]$/);
const hunk: fc.Arbitrary<Hunk> = fc
  .record({
    after: fc.option(fc.stringMatching(/^[a-z(){}@*+-][a-z(){} ]{0,8}[a-z]$/), { nil: undefined }),
    lines: fc.array(fc.record({ mark: fc.constantFrom(' ' as const, '-' as const, '+' as const), text: line }), {
      minLength: 1,
      maxLength: 6,
    }),
    atEnd: fc.boolean(),
  })
  .filter(({ lines }) => lines.some(({ mark }) => mark !== ' '))
  .map(({ after, ...rest }) => (after === undefined ? rest : { after, ...rest }));
const change: fc.Arbitrary<FileChange> = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), path, lines: fc.array(line, { maxLength: 5 }) }),
  fc.record({ kind: fc.constant('delete' as const), path }),
  fc.record({ kind: fc.constant('update' as const), path, hunks: fc.array(hunk, { minLength: 1, maxLength: 3 }) }),
  fc.record({ kind: fc.constant('update' as const), path, moveTo: path, hunks: fc.array(hunk, { maxLength: 2 }) }),
);

test('what is rendered is parsed back to the same patch', () => {
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (patch) => {
      expect(parsePatch(renderPatch(patch))).toEqual(patch);
    }),
  );
});

test('a malformed patch is a PATCH_SYNTAX with its line, whatever is wrong with it', () => {
  const pieces = fc.constantFrom(
    '*** Begin Patch',
    '*** End Patch',
    '*** Add File: a',
    '*** Update File: a',
    '*** Move to: b',
    '@@',
    '@@ x',
    '+a',
    '-b',
    ' c',
    'junk',
    '',
    '***',
    '*** End of File',
    '```',
  );
  const damaged = fc.oneof(
    fc.string({ maxLength: 200 }),
    fc.array(pieces, { maxLength: 12 }).map((lines) => lines.join('\n')),
  );
  fc.assert(
    fc.property(damaged, (input) => {
      try {
        parsePatch(input);
      } catch (error) {
        expect(isCoded(error) && error.code).toBe('PATCH_SYNTAX');
        expect((error as Error).message).toMatch(/^patch line \d+: /);
      }
    }),
    { numRuns: 500 },
  );
});

const lenient: readonly (readonly [what: string, input: string])[] = [
  ['a here-document', "<<'EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF"],
  ['a code fence', '```diff\n*** Begin Patch\n*** Delete File: a\n*** End Patch\n```'],
  ['blanks and Windows line ends', '\n*** Begin Patch \r\n*** Delete File: a \r\n*** End Patch\r\n\n'],
];
test.each(lenient)('a patch in %s is read', (_, input) => {
  expect(parsePatch(input)).toEqual([{ kind: 'delete', path: 'a' }]);
});

type Files = Readonly<Record<string, string>>;
const numbers = 'one\ntwo\nthree\nfour\nfive\n';

async function applied(before: Files, body: string) {
  await using bench = await toolbench([toolsFs, allowAll]);
  for (const [name, content] of Object.entries(before)) {
    await mkdir(dirname(join(bench.workspace, name)), { recursive: true });
    await writeFile(join(bench.workspace, name), content);
  }
  const result = await bench.call('apply_patch', { input: `*** Begin Patch\n${body}\n*** End Patch` });
  const after: Record<string, string> = {};
  for (const entry of await readdir(bench.workspace, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isDirectory() && (await readdir(file)).length === 0) after[file.slice(bench.workspace.length + 1)] = '[empty folder]';
    if (entry.isFile()) after[file.slice(bench.workspace.length + 1)] = await readFile(file, 'utf8');
  }
  return { result, after };
}

const patches: readonly (readonly [what: string, before: Files, body: string, after: Files])[] = [
  ['adds a file in a new folder', { x: '' }, '*** Add File: d/a\n+1\n+2', { x: '', 'd/a': '1\n2\n' }],
  ['deletes a file', { a: '1', b: '2' }, '*** Delete File: a', { b: '2' }],
  ['updates with context', { a: numbers }, '*** Update File: a\n@@\n two\n-three\n+3\n four', { a: numbers.replace('three', '3') }],
  ['needs no @@ before the first hunk', { a: numbers }, '*** Update File: a\n-one\n+1', { a: numbers.replace('one', '1') }],
  ['looks below the @@ line', { a: 'f\nx\ng\nx\n' }, '*** Update File: a\n@@ g\n-x\n+y', { a: 'f\nx\ng\ny\n' }],
  ['inserts below the @@ line', { a: numbers }, '*** Update File: a\n@@ one\n+1.5', { a: numbers.replace('two', '1.5\ntwo') }],
  ['appends without an anchor', { a: 'x\n' }, '*** Update File: a\n@@\n+y', { a: 'x\ny\n' }],
  [
    'takes the last place at the end of the file',
    { a: 'x\ny\nx\n' },
    '*** Update File: a\n@@\n-x\n+z\n*** End of File',
    { a: 'x\ny\nz\n' },
  ],
  ['applies hunks in order', { a: 'x\nx\nx\n' }, '*** Update File: a\n@@\n-x\n+1\n@@\n-x\n+2', { a: '1\n2\nx\n' }],
  ['moves and changes', { a: numbers }, '*** Update File: a\n*** Move to: d/b\n@@\n-one\n+1', { 'd/b': numbers.replace('one', '1') }],
  ['keeps a missing last line end', { a: 'x\ny' }, '*** Update File: a\n@@\n-y\n+z', { a: 'x\nz' }],
  ['keeps Windows line ends', { a: 'x\r\ny\r\n' }, '*** Update File: a\n@@\n-y\n+z', { a: 'x\r\nz\r\n' }],
  [
    'keeps the context as the file has it',
    { a: '\tif x\n\t\told\n' },
    '*** Update File: a\n@@\n if x\n-  old\n+  new',
    { a: '\tif x\n\t\tnew\n' },
  ],
  ['empties a file', { a: 'x\n' }, '*** Update File: a\n@@\n-x', { a: '' }],
  [
    'changes several files',
    { a: '1\n', b: '2\n' },
    '*** Update File: a\n-1\n+one\n*** Delete File: b\n*** Add File: c\n+3',
    { a: 'one\n', c: '3\n' },
  ],
];
test.each(patches)('SPEC 2.1: apply_patch %s', async (_, before, body, after) => {
  const outcome = await applied(before, body);
  expect({ said: textOf(outcome.result), after: outcome.after }).toEqual({
    said: expect.stringMatching(/^(Added|Updated|Moved|Deleted) /),
    after,
  });
});

const good = '*** Update File: good\n-1\n+one\n';
const refused: readonly (readonly [what: string, body: string, text: RegExp])[] = [
  ['a hunk does not match', `${good}*** Update File: a\n@@\n two\n-tree\n+3`, /hunk 1 of "a".*Nearest, from line 2:/s],
  ['the @@ line is not there', `${good}*** Update File: a\n@@ nowhere\n-two\n+2`, /the line after "@@" is not in the file/],
  ['a file to add exists', `${good}*** Add File: a\n+x`, /"a" exists already; update it instead/],
  ['a file to delete is not there', `${good}*** Add File: new/x\n+1\n*** Delete File: z`, /"z" does not exist/],
  ['a move would overwrite', `*** Update File: good\n*** Move to: a`, /"a" exists already/],
  ['a file is named twice', `${good}*** Update File: ./good\n-1\n+2`, /names "good" twice/],
  ['one path leads outside', `${good}*** Add File: ../../../evil\n+x`, /outside the workspace/],
  ['the syntax is wrong', `${good}*** Rename File: a`, /patch line 5: expected "\*\*\* Add File/],
];
test.each(refused)('apply_patch changes nothing at all where %s', async (_, body, expected) => {
  const before = { a: numbers, good: '1\n' };
  const { result, after } = await applied(before, body);
  expect(result.isError).toBe(true);
  expect(textOf(result)).toMatch(expected);
  expect(after).toEqual(before);
});

test('a moved file keeps its mode', async () => {
  await using bench = await toolbench([toolsFs, allowAll]);
  await bench.call('write', { path: 'run', content: 'x\n' });
  await chmod(join(bench.workspace, 'run'), 0o755);
  await bench.call('apply_patch', { input: '*** Begin Patch\n*** Update File: run\n*** Move to: go\n*** End Patch' });
  expect((await stat(join(bench.workspace, 'go'))).mode & 0o777).toBe(0o755);
});

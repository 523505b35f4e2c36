import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { codeProblems } from '../../docs/generate/codes.ts';
import { checkout } from '../../docs/generate/sources.ts';

type Files = Readonly<Record<string, string>>;

test('every code that is raised has one row in one table, and every row is raised', () => {
  expect(codeProblems(checkout)).toEqual([]);
}, 60_000); // two seconds of work, beside everything else that runs then

const sound: Files = {
  'kernel/codes.json': '{ "RUN_ENDED": "ended" }',
  'kernel/run.ts': `throw new KernelError('RUN_ENDED', 'x');`,
  'plugins/a/codes.json': '{ "A_ONE": "one; do", "A_TWO": "two; do", "A_THREE": "three; do", "A_SHARED": "shared; do" }',
  'plugins/a/contract.ts': `export function refusal(status: number, code: string) { return { code }; } export type Code = 'A_TYPE';`,
  'plugins/a/index.ts': `throw cause ? refusal(400, early ? 'A_ONE' : 'A_TWO') : { code: known ?? 'A_THREE' };
    if (error.code === 'A_COMPARED' || process.env['A_VARIABLE'] || error.code === 'ETIMEDOUT') throw new KernelError('RUN_ENDED', 'x');
    const code = isCoded(error) ? error.code : 'ETIMEDOUT';`,
  'plugins/b/index.ts': `import { refusal } from '../a/contract.ts'; throw refusal(404, 'A_SHARED');`,
};

/** Each row spoils the sound checkout, and gives the one problem that must be told. */
const unsound: readonly [Files, string][] = [
  [{ 'plugins/b/x.ts': `new KernelError('B_NEW', 'x')` }, 'plugins/b/x.ts:1: B_NEW is in no table that "b" may use'],
  [{ 'plugins/b/x.ts': `class E extends Error { code = 'B_NEW' }` }, 'plugins/b/x.ts:1: B_NEW is in no table that "b" may use'],
  [{ 'plugins/b/x.ts': `const { code = 'B_NEW' } = error;` }, 'plugins/b/x.ts:1: B_NEW is in no table that "b" may use'],
  [{ 'plugins/b/x.ts': `const f = (what, code) => 1; f('x', 'B_NEW')` }, 'plugins/b/x.ts:1: B_NEW is in no table that "b" may use'],
  [{ 'plugins/b/x.ts': `\nthrow refusal(404, 'B_NEW')` }, 'plugins/b/x.ts:2: B_NEW is in no table that "b" may use'],
  [
    { 'plugins/c/x.ts': `new KernelError('A_ONE', 'x')` },
    'plugins/c/x.ts:1: A_ONE is in no table that "c" may use; it belongs to "a", whose contract is not imported',
  ],
  [{ 'plugins/b/codes.json': '{ "B_OLD": "old; do" }' }, 'B_OLD is in the table of "b", but nothing raises it'],
  [
    { 'plugins/b/codes.json': '{ "B_OLD": "old; do" }', 'plugins/b/x.ts': `if (code === 'B_OLD') stop();` },
    'B_OLD is in the table of "b", but nothing raises it',
  ],
  [{ 'plugins/b/codes.json': '{ "A_ONE": "one; do" }' }, 'A_ONE is in the tables of "a" and of "b"'],
  [
    { 'plugins/b/codes.json': '{ "B_NEW": "new" }', 'plugins/b/x.ts': `new KernelError('B_NEW')` },
    'B_NEW: say what it means; then what to do',
  ],
];

test('a checkout whose codes all have their row is fine', async () => {
  await using folder = await write(sound);
  expect(codeProblems(folder.path)).toEqual([]);
});

test.each(unsound)('a checkout with %j is not', async (spoiled, problem) => {
  await using folder = await write({ ...sound, ...spoiled });
  expect(codeProblems(folder.path)).toEqual([problem]);
});

async function write(files: Files) {
  const folder = await mkdtempDisposable(join(tmpdir(), 'instar-codes-'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder.path, name)), { recursive: true });
    await writeFile(join(folder.path, name), text);
  }
  return { path: folder.path, [Symbol.asyncDispose]: () => folder.remove() };
}

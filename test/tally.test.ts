import { execFile } from 'node:child_process';
import { mkdtempDisposable, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { countTests, summary, type Tally } from './support/tally.ts';

const modules = join(import.meta.dirname, '../node_modules');
const begin = `import { test } from 'vitest';`;

/** Every way in which a run can end, as vitest itself reports it. */
const runs: readonly [name: string, testFile: string, Tally][] = [
  ['all is well', `${begin} test('a', () => {}); test('b', () => {});`, { passed: 2, failed: 0, skipped: 0 }],
  ['a test fails', `${begin} test('a', () => {}); test('b', () => { throw 1 });`, { passed: 1, failed: 1, skipped: 0 }],
  ['tests are left out', `${begin} test.skip('a', () => {}); test.todo('b');`, { passed: 0, failed: 0, skipped: 2 }],
  ['a file does not parse', `${begin} test(`, { passed: 0, failed: 1, skipped: 0 }],
  ['nobody awaits a failure', `${begin} test('a', () => { Promise.reject(1) });`, { passed: 1, failed: 1, skipped: 0 }],
];

test.each(runs)('counts what vitest tells when %s', async (_name, testFile, expected) => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'instar-tally-'));
  await symlink(modules, join(folder.path, 'node_modules'));
  await writeFile(join(folder.path, 'sample.test.js'), testFile);
  const { ok, report } = await runVitest(folder.path);
  expect(countTests(report, ok)).toEqual(expected);
});

test('a run without a report is a failure', () => {
  expect(summary(countTests(undefined, true))).toBe('0 passed, 1 failed');
});

test('skips are named only where there are some', () => {
  expect(summary({ passed: 3, failed: 0, skipped: 1 })).toBe('3 passed, 0 failed, 1 skipped');
});

async function runVitest(folder: string): Promise<{ ok: boolean; report: string }> {
  const report = join(folder, 'report.json');
  const options = ['run', '--root', folder, '--reporter=json', `--outputFile=${report}`];
  const ok = await new Promise<boolean>((resolve) => {
    execFile(process.execPath, [join(modules, 'vitest/vitest.mjs'), ...options], (error) => resolve(error === null));
  });
  return { ok, report: await readFile(report, 'utf8') };
}

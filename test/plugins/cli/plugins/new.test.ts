import { execFile } from 'node:child_process';
import { globSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Plugin } from '../../../../kernel/index.ts';
import { bundle } from '../../../../plugins/cli/bundle.ts';
import { kinds, scaffold } from '../../../../plugins/cli/plugins/scaffold.ts';
import { bundledPlugins } from '../../../../plugins/testing/kit.ts';
import { type Folder, folder } from '../../../host/folder.ts';
import { bootTest } from '../../../support/kernel.ts';
import { long } from '../../../support/series.ts';

const execute = promisify(execFile);
const register = join(import.meta.dirname, '../../../../plugins/cli/plugins/register.ts');

describe('a plugin of each kind', () => {
  let home: Folder;
  beforeAll(async () => {
    home = await folder();
    for (const kind of kinds) await scaffold(home.at(`plugins/my-${kind}`), `my-${kind}`, kind);
  });
  afterAll(() => home[Symbol.asyncDispose]());

  long(
    'is checked by tsc with its own tsconfig, and by the strictest settings',
    async () => {
      const [first, ...more] = kinds.map((kind) => readFileSync(home.at(`plugins/my-${kind}/tsconfig.json`), 'utf8'));
      expect(new Set(more)).toEqual(new Set([first])); // so that one run of tsc does for all
      await home.write({ 'tsconfig.json': '{ "extends": "./plugins/my-tool/tsconfig.json", "include": ["plugins/**/*.ts"] }' });
      const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
      const { stdout } = await execute(process.execPath, [tsc, '-p', home.path, '--listFiles']).catch((error: { stdout: string }) => error);
      expect(stdout.split('\n').filter((line) => line.includes(': error '))).toEqual([]);
      expect(stdout.split('\n')).toEqual(expect.arrayContaining(kinds.map((kind) => home.at(`plugins/my-${kind}/my-${kind}.test.ts`))));
    },
    60_000,
  );

  test('passes its own tests', async () => {
    const tests = globSync('plugins/*/*.test.ts', { cwd: home.path });
    expect(tests).toHaveLength(kinds.length);
    const args = ['--import', register, '--test', '--test-isolation=none', '--test-reporter=tap', ...tests];
    const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => key !== 'NODE_TEST_CONTEXT' && !key.startsWith('VITEST')));
    const { stdout } = await execute(process.execPath, args, { cwd: home.path, env }).catch((error: { stdout: string }) => error);
    expect(stdout).toMatch(/^# fail 0$/m);
    expect(Number(/^# pass (\d+)$/m.exec(stdout)?.[1])).toBeGreaterThanOrEqual(tests.length);
  }, 60_000);

  test.for(kinds)('is live beside all others: %s', async (kind) => {
    const { value } = await bundle(home.at(`plugins/my-${kind}/index.ts`));
    await using t = await bootTest([...(await bundledPlugins()), value as Plugin]);
    const { instances, leftOut } = t.kernel.inspect();
    expect(leftOut).toEqual([]);
    expect(instances.some(({ plugin }) => plugin === `my-${kind}`)).toBe(true);
  });

  test.for(kinds)('leaves no blank to fill in, and says what it is: %s', (kind) => {
    const files = readdirSync(home.at(`plugins/my-${kind}`));
    expect(files).toEqual(expect.arrayContaining(['README.md', 'index.ts', `my-${kind}.test.ts`, 'package.json', 'tsconfig.json']));
    for (const file of files) expect(readFileSync(home.at(`plugins/my-${kind}/${file}`), 'utf8')).not.toMatch(/\{\{|<kind>/);
  });
});

test('what is there already is left as it is', async () => {
  await using home = await folder({ 'plugins/mine/notes.txt': 'precious' });
  await expect(scaffold(home.at('plugins/mine'), 'mine', 'tool')).rejects.toMatchObject({ code: 'PLUGIN_EXISTS' });
  expect([readdirSync(home.path), readdirSync(home.at('plugins/mine'))]).toEqual([['plugins'], ['notes.txt']]);
  mkdirSync(home.at('plugins/empty'));
  await scaffold(home.at('plugins/empty'), 'empty', 'tool');
});

import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { typedIn } from '../../../plugins/cli/npm-folder.ts';

test.each([
  ['our script, called in another folder', {}, '/elsewhere'],
  ['our other script', { npm_lifecycle_event: 'dev' }, '/elsewhere'],
  ['a script that tests us', { npm_lifecycle_event: 'test' }, undefined],
  ['a script of another package', { npm_package_json: '/other/package.json' }, undefined],
  ['no npm at all', { npm_lifecycle_event: undefined, npm_package_json: undefined }, undefined],
  ['an npm that does not say where', { INIT_CWD: undefined }, undefined],
])('relative paths are meant where the person typed: %s', async (_, more, folder) => {
  await using root = await mkdtempDisposable(join(tmpdir(), 'instar-clone-'));
  const env = { INIT_CWD: '/elsewhere', npm_lifecycle_event: 'instar', npm_package_json: join(root.path, 'package.json'), ...more };
  expect(typedIn(env, root.path, root.path)).toBe(folder);
});

test('who has left the package folder since, such as a command that an agent runs, is where he is', async () => {
  await using root = await mkdtempDisposable(join(tmpdir(), 'instar-clone-'));
  const env = { INIT_CWD: '/elsewhere', npm_lifecycle_event: 'start', npm_package_json: join(root.path, 'package.json') };
  expect(typedIn(env, tmpdir(), root.path)).toBeUndefined();
});

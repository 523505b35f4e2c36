import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { builtinsOf } from '../../../../plugins/cli/plugins/review.ts';
import { start } from '../../../host/booted.ts';
import { type Folder, folder } from '../../../host/folder.ts';
import { instar } from '../../../host/instar.ts';
import { long } from '../../../support/series.ts';

const index = `import { writeFileSync } from 'node:fs';
writeFileSync(process.env.INSTAR_HOME + '/ran', '');
export default { name: 'dice', description: 'rolls', setup() {} };
`;
const manifest = { name: 'instar-plugin-dice', version: '1.2.3', description: 'rolls \u001b[2Jdice', type: 'module' };

let home: Folder;
let from: Folder;
const plugins = (...args: string[]) => instar(home.path, ['plugins', ...args]).ended;
const lock = () => JSON.parse(readFileSync(home.at('plugins.lock.json'), 'utf8')) as { plugins: object[] };
/** What is left in the state folder that has to do with plugins. */
const left = () => readdirSync(home.path).filter((name) => name.includes('plugin') || name === 'ran');

beforeEach(async () => {
  home = await folder();
  from = await folder({ 'dice/index.ts': index, 'dice/package.json': JSON.stringify(manifest), 'dice/lib/a.ts': "import 'net';\n" });
});
afterEach(async () => {
  await home[Symbol.asyncDispose]();
  await from[Symbol.asyncDispose]();
});

test('without a terminal and without --yes a plugin is shown, not installed, and nothing of it runs', async () => {
  const { code, out, err } = await plugins('install', from.at('dice'));
  expect([code, err]).toEqual([1, expect.stringMatching(/^instar: PLUGIN_UNCONFIRMED: .*add --yes/)]);
  for (const shown of ['dice', '1.2.3', 'rolls \u{fffd}[2Jdice', 'fs, net', 'lib/a.ts', 'sha256-']) expect(out).toContain(shown);
  expect(left()).toEqual([]);
});

test('a folder is installed with its lock, without what is not the plugin’s, and never overwritten', async () => {
  await from.write({ 'dice/node_modules/x/index.js': '', 'dice/.npmrc': 'git=./evil', 'dice/.git/config': '' });
  expect(await plugins('install', from.at('dice'), '--yes')).toMatchObject({ code: 0, err: '' });
  expect(readdirSync(home.at('plugins/dice')).toSorted()).toEqual(['index.ts', 'lib', 'package.json']);
  const integrity = expect.stringMatching(/^sha256-.{44}$/) as string;
  const entry = { name: 'dice', source: from.at('dice'), version: '1.2.3', integrity, installedAt: expect.any(String) as string };
  expect(lock()).toEqual({ lockVersion: 1, plugins: [entry] });
  const before = lock();
  expect(await plugins('install', from.at('dice'), '--yes')).toMatchObject({ code: 1, err: expect.stringContaining('PLUGIN_EXISTS') });
  expect(lock()).toEqual(before);
  expect(left()).toEqual(['plugins', 'plugins.lock.json']);
});

long('doctor warns of content that is not what was confirmed, and uninstall keeps it unless forced', async () => {
  await plugins('install', from.at('dice'), '--yes');
  expect((await plugins('doctor')).out).not.toContain('was installed');
  await home.write({ 'plugins/dice/lib/a.ts': "import 'vm';\n" });
  expect((await plugins('doctor')).out).toMatch(/^warn +dice .*its content changed$/m);
  expect(await plugins('uninstall', 'dice')).toMatchObject({ code: 1, err: expect.stringContaining('PLUGIN_CHANGED') });
  expect(await plugins('uninstall', 'dice', '--force')).toMatchObject({ code: 0, err: '' });
  expect([existsSync(home.at('plugins/dice')), lock().plugins]).toEqual([false, []]);
});

test('uninstall takes nothing that install did not bring, and names the config that would be at fault', async () => {
  await home.write({ 'plugins/mine/index.ts': '' });
  expect(await plugins('uninstall', 'mine')).toMatchObject({ code: 1, err: expect.stringContaining('PLUGIN_NOT_INSTALLED') });
  await plugins('install', from.at('dice'), '--yes');
  await home.write({ 'instar.json5': '{ plugins: { entries: { dice: { enabled: false } } } }' });
  expect(await plugins('uninstall', 'dice')).toMatchObject({ code: 1, err: expect.stringContaining('plugins.entries.dice') });
  expect(readdirSync(home.at('plugins'))).toEqual(['dice', 'mine']);
});

long('a running gateway has it at once, and no longer after uninstall', async () => {
  await using gateway = await start(home);
  const live = async () => (await gateway.inspect()).instances.some(({ plugin }) => plugin === 'dice');
  await from.write({ 'dice/index.ts': "export default { name: 'dice', description: 'rolls', setup() {} };" });
  expect(await plugins('install', from.at('dice'), '--yes')).toMatchObject({ code: 0, out: expect.stringMatching(/it is live/) });
  expect(await live()).toBe(true);
  expect(await plugins('uninstall', 'dice')).toMatchObject({ code: 0, out: expect.stringMatching(/it is gone/) });
  expect(await live()).toBe(false);
});

test('a link is refused, wherever it leads', async () => {
  symlinkSync('/etc/passwd', from.at('dice/lib/secrets.txt'));
  expect(await plugins('install', from.at('dice'), '--yes')).toMatchObject({ code: 1, err: expect.stringContaining('PLUGIN_LINK') });
  expect(left()).toEqual([]);
});

test('a dependency from git, which could run a script of its own, is not fetched', async () => {
  await from.write({ 'dice/package.json': '{ "dependencies": { "x": "git+https://127.0.0.1:1/x.git" } }' });
  const { code, err } = await plugins('install', from.at('dice'), '--yes');
  expect([code, err]).toEqual([1, expect.stringMatching(/^instar: PLUGIN_FETCH: .*EALLOWGIT/)]);
  expect(left()).toEqual([]);
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('nothing is left of a fetch that %s breaks off', async (signal) => {
  await from.write({ 'bin/npm': '#!/bin/sh\necho fetching > fetched; echo npm: $$ >&2; exec sleep 300\n' });
  chmodSync(from.at('bin/npm'), 0o755);
  const running = instar(home.path, ['plugins', 'install', 'some-package', '--yes'], { PATH: `${from.at('bin')}:${process.env.PATH}` });
  const draft = () => left().find((name) => name.startsWith('.install-plugin-'));
  await expect.poll(() => draft() !== undefined && existsSync(home.at(`${draft()}/fetched`)), { interval: 10, timeout: 10_000 }).toBe(true);
  running.child.kill(signal);
  await running.ended;
  expect(running.child.signalCode).toBe(signal);
  expect(left()).toEqual([]);
});

test('nothing but the plugin is left where the reader of our output has gone', async () => {
  const running = instar(home.path, ['plugins', 'install', from.at('dice'), '--yes']);
  running.child.stdout?.destroy();
  await running.ended;
  expect(left().filter((name) => name.startsWith('.'))).toEqual([]);
});

test.each([
  [['../evil'], 'PLUGIN_SOURCE'],
  [['git+ssh://example.org/x.git'], 'PLUGIN_SOURCE'],
  [['a@npm:b'], 'PLUGIN_SOURCE'],
  [['./dice', '--name', '../../evil'], 'PLUGIN_NAME'],
  [['./dice', '--name', '.hidden'], 'PLUGIN_NAME'],
  [['./dice', '--name', 'gateway'], 'PLUGIN_EXISTS'],
  [['./empty'], 'PLUGIN_SOURCE'],
  [['./outside'], 'PLUGIN_SOURCE'],
])('install %j is refused with %s', async (args, code) => {
  await home.write({ 'dice/index.ts': index, 'empty/a.txt': '', 'outside/package.json': '{ "main": "../dice/index.ts" }' });
  expect(await plugins('install', ...args, '--yes')).toMatchObject({ code: 1, err: expect.stringContaining(`instar: ${code}: `) });
  expect(left()).toEqual([]);
});

long(
  'a package is fetched with its dependencies, runs none of its scripts, and is found by its main',
  async () => {
    const execute = promisify(execFile);
    const touch = `node -e "require('fs').writeFileSync('${home.at('ran')}', '')"`;
    const scripts = { preinstall: touch, install: touch, postinstall: touch, prepare: touch };
    const inner = { name: 'inner', version: '1.0.0', scripts };
    const whole = { ...manifest, main: 'dist/main.js', scripts, dependencies: { inner: '1.0.0' }, bundleDependencies: ['inner'] };
    await from.write({
      'dice/package.json': JSON.stringify(whole),
      'dice/dist/main.js': "export default { name: 'dice', description: 'rolls', setup() {} };",
      'dice/node_modules/inner/package.json': JSON.stringify(inner),
      'dice/node_modules/inner/index.js': "require('child_process');",
    });
    await execute('rm', [from.at('dice/index.ts')]);
    await execute('npm', ['pack', '--ignore-scripts', '--pack-destination', from.path], { cwd: from.at('dice') });
    const { code, out, err } = await plugins('install', from.at('instar-plugin-dice-1.2.3.tgz'), '--yes');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/dependencies +inner 1\.0\.0/);
    expect(out).toMatch(/builtins of those +child_process/);
    expect(existsSync(home.at('plugins/dice/node_modules/inner/index.js'))).toBe(true);
    expect(left()).toEqual(['plugins', 'plugins.lock.json']);
    expect((await plugins('list')).out).toMatch(/^ {2}dice +live/m);
    expect((await plugins('doctor')).out).not.toContain('was installed from');
  },
  60_000,
);

test.each([
  ["import fs from 'fs'; import x from 'left'", ['fs']],
  ['const { exec } = await import("node:child_process")', ['child_process']],
  ["require( 'http' ); process.getBuiltinModule(`net`); const path = 'path'", ['http', 'net']],
  ["export * from 'fs/promises'", ['fs/promises']],
])('of the text %s the Node builtins are %j', async (text, found) => {
  await from.write({ 'scan.ts': text });
  expect(builtinsOf(from.path, [{ path: 'scan.ts', size: 0 }])).toEqual(found);
});

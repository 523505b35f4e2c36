import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { definePlugin, type Plugin, type Run } from '../../../kernel/index.ts';
import { Sandbox } from '../../../plugins/sandbox/contract.ts';
import { hiddenIn, unfit } from '../../../plugins/sandbox/folders.ts';
import { GuardedFiles } from '../../../plugins/tools-fs/contract.ts';
import toolsFs from '../../../plugins/tools-fs/index.ts';
import { bootTest, type TestOptions } from '../../support/kernel.ts';
import { bench, launchOf, noBubblewrap, programs } from './bench.ts';

let top = '';
beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), 'instar-kept-')));
});
afterEach(() => rm(top, { recursive: true, force: true }));

const put = async (name: string, text = 'as it was') => {
  await mkdir(dirname(join(top, name)), { recursive: true });
  await writeFile(join(top, name), text);
  return join(top, name);
};

/** A workspace with an included config file and plugins some folders deep. */
async function project() {
  const config = [await put('ws/deep/conf/part.json5')];
  const plugins = [await put('ws/code/plugins/mine/index.ts')];
  await put('ws/plain.txt');
  return { config, plugins, roots: [join(top, 'ws/code/plugins')] };
}

describe.skipIf(noBubblewrap)('S11: a command in a sandbox', () => {
  test('that may only read its workspace sees no config in it, and changes no plugin', async () => {
    const sources = await project();
    await using at = await bench({ sandbox: { workspaceAccess: 'ro' }, at: join(top, 'ws'), sources });
    const told = await at.exec('cat deep/conf/part.json5; cat code/plugins/mine/index.ts; echo evil > code/plugins/mine/index.ts');
    expect(told).toMatch(/^cat: deep\/conf\/part.json5: Permission denied\nas it was.*Read-only file system/s);
  });

  test('does not see the state folder through a folder that it may read, and its workspace in there stays', async () => {
    await using at = await bench({ sandbox: { workspaceAccess: 'rw' }, readTop: true });
    await writeFile(join(at.test.home, 'token'), 'SECRET');
    await writeFile(join(at.top, 'beside'), 'beside');
    const told = await at.exec(
      `cat ${at.top}/beside; ls ${at.test.home}; cat ${at.test.home}/token; echo x > ${at.test.home}/new; echo mine > own; cat own`,
    );
    expect(told).toMatch(/^beside/);
    expect(told).not.toContain('SECRET');
    expect(told).toMatch(/token: No such file.*Read-only file system.*mine\n/s);
  });
});

test('S11: Docker gets the same files out of sight, under both names', async () => {
  const sources = await project();
  await using bin = await programs({ docker: 'case "$1" in version) echo 27.0.1;; esac' });
  const options = { at: join(top, 'ws'), sources, env: { PATH: bin.PATH } };
  await using at = await bench({ sandbox: { backend: 'docker', workspaceAccess: 'ro' }, ...options });
  const line = (await at.wrap(launchOf(at.workspace))).argv.join(' ');
  for (const outer of [at.workspace, '/workspace']) {
    expect(line).toContain(`type=bind,source=${at.workspace},target=${outer},readonly`);
    expect(line).toContain(`type=bind,source=/dev/null,target=${outer}/deep/conf/part.json5,readonly`);
  }
});

interface Place {
  readonly home?: string;
  readonly sources?: TestOptions['sources'];
  readonly also?: Plugin;
}
/** Paths are below `top`. */
async function within<T>({ home = 'state', sources = {}, also }: Place, work: (run: Run) => Promise<T>): Promise<T> {
  const at = (names: readonly string[] = []) => names.map((name) => join(top, name));
  const { config, plugins, roots = ['state/plugins'] } = sources;
  const options = { home: join(top, home), sources: { config: at(config), plugins: at(plugins), roots: at(roots) } };
  await using t = await bootTest([toolsFs, ...(also ? [also] : [])], {}, options);
  return await t.kernel.run(work);
}

test('what a readable folder shows under another name is hidden under that name', async () => {
  await put('real/state/token');
  await put('ws/x');
  await symlink('real', join(top, 'alias'));
  const hidden = (readable: string) => within({ home: 'real/state' }, (run) => hiddenIn(join(top, 'ws'), [readable], run));
  expect(await hidden(join(top, 'alias'))).toEqual([{ path: join(top, 'alias/state'), isFolder: true }]);
  expect(await hidden(`${join(top, 'real/state')}/`)).toEqual([{ path: join(top, 'real/state'), isFolder: true }]);
  expect(await hidden(join(top, 'ws'))).toEqual([]);
});

const names = (fixed: string): Plugin =>
  definePlugin({
    name: 'names',
    description: 'Names a file',
    setup: (ctx) => ctx.tap(GuardedFiles, (all) => ({ ...all, fixed: [...all.fixed, join(top, fixed)] })),
  });
const mine = { roots: ['ws/plugins'], plugins: ['ws/plugins/mine/index.ts'] };
const refused: readonly (readonly [what: string, place: () => Place, workspace: string, why: RegExp])[] = [
  ['holds a config file', () => ({ sources: { config: ['ws/part.json5'] } }), 'ws', /holds .*ws\/part\.json5, by which the gateway finds/],
  ['leads to one by a link', () => ({ sources: { config: ['ws/conf/part.json5'] } }), 'ws', /holds .*ws\/conf, by which/],
  ['holds plugins', () => ({ sources: mine }), 'ws', /holds .*ws\/plugins, by which/],
  ['has a place for plugins', () => ({ sources: { roots: ['ws/none'] } }), 'ws', /holds .*ws\/none, by which/],
  ['lies in plugins', () => ({ sources: mine }), 'ws/plugins/mine', /lies in .*ws\/plugins, by which/],
  ['could hold what a plugin above imports', () => ({ sources: { plugins: ['ws/a/b/index.ts'] } }), 'ws/a', /holds .*ws\/a\/b, by which/],
  [
    'could hold what a plugin in the state folder imports',
    () => ({ home: 'ws/state', sources: { plugins: ['ws/state/plugins/a/index.ts'] } }),
    'ws',
    /holds .*ws\/(package\.json|node_modules), by/,
  ],
  ['holds a program that the config names', () => ({ also: names('ws/server.mjs') }), 'ws', /holds .*ws\/server\.mjs, by which/],
];
test.each(refused)('S11: no command may write in a workspace that %s', async (_, place, workspace, why) => {
  await put('elsewhere/part.json5');
  await put('ws/x');
  await symlink(join(top, 'elsewhere'), join(top, 'ws/conf'));
  const fault = (isWritable: boolean) => within(place(), (run) => unfit(join(top, workspace), isWritable, run));
  expect(await fault(true)).toMatch(why);
  expect(await fault(true)).toMatch(/set sandbox\.workspaceAccess to "ro", or give the agent one of its own$/);
  expect(await fault(false)).toBeUndefined();
});

const fit: readonly (readonly [what: string, place: Place, workspace: string])[] = [
  ['holds the state folder', { home: 'ws/state', sources: { roots: ['ws/state/plugins'], config: ['ws/state/instar.json5'] } }, 'ws'],
  ['lies in the state folder', { sources: { config: ['state/instar.json5'], plugins: ['state/plugins/a/index.ts'] } }, 'state/workspace'],
  ['is a project of its own, with packages', { sources: mine }, 'other'],
];
test.each(fit)('a command may write in a workspace that %s', async (_, place, workspace) => {
  await put('other/node_modules/dep/index.js');
  expect(await within(place, (run) => unfit(join(top, workspace), true, run))).toBeUndefined();
});

test('S11: a turn whose workspace holds config is refused in one sentence, and its file tools write nothing there', async () => {
  const sources = await project();
  await using at = await bench({ sandbox: { workspaceAccess: 'rw' }, at: join(top, 'ws'), sources });
  const refusal = await at.within({}, (run) => run.get(Sandbox).worldOf(run)?.exists() ?? Promise.resolve('no world'));
  expect(refusal).toMatch(/holds .*, by which the gateway finds its config or what it runs/);
  expect(await at.exec('echo evil > plain.txt')).toContain(' by which the gateway finds its config');
  expect(await readFile(join(top, 'ws/plain.txt'), 'utf8')).toBe('as it was');
});

test('S9: without the plugin that tells what is guarded nothing runs in a sandbox', async () => {
  await using t = await bootTest([], {}, {});
  expect(await t.kernel.run((run) => unfit(join(top, 'ws'), false, run))).toMatch(/plugin "tools-fs".* is not live; switch it on/);
});

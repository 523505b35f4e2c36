import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { given, KernelError } from '../../../kernel/index.ts';
import agents from '../../../plugins/agents/index.ts';
import toolsExec from '../../../plugins/tools-exec/index.ts';
import { PathGuard } from '../../../plugins/tools-fs/contract.ts';
import { guardedOf } from '../../../plugins/tools-fs/guarded.ts';
import toolsFs from '../../../plugins/tools-fs/index.ts';
import { Turn } from '../../../plugins/turns/contract.ts';
import { bootTest } from '../../support/kernel.ts';
import { allowAll, textOf, turnIn } from '../../support/toolbench.ts';

const files = {
  'instar.json5': '{}',
  'conf/exec.json5': '{ security: "deny" }',
  'plugins/mine/index.ts': 'export default 1;',
  'lib/shared.ts': 'export const a = 1;',
  'src/other.ts': 'export const b = 1;',
  'node_modules/dep/index.js': 'module.exports = 1;',
  'state/token': 'TOKEN',
};

/** A project that is the agent's workspace and holds all that the gateway is made of. */
async function project() {
  const top = await realpath(await mkdtemp(join(tmpdir(), 'instar-guarded-')));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(top, name)), { recursive: true });
    await writeFile(join(top, name), text);
  }
  await mkdir(join(top, 'elsewhere'));
  await writeFile(join(top, 'elsewhere/part.json5'), '{}');
  await symlink('elsewhere', join(top, 'linked'));
  const at = (...names: readonly string[]) => names.map((name) => join(top, name));
  const sources = {
    config: at('instar.json5', 'conf/exec.json5', 'linked/part.json5'),
    roots: at('state/plugins', 'plugins'),
    plugins: at('plugins/mine/index.ts', 'lib/shared.ts'),
  };
  const config = { agents: { defaults: { workspace: top } }, tools: { exec: { security: 'full' } } };
  const booted = await bootTest([agents, toolsFs, toolsExec, allowAll], config, {
    home: join(top, 'state'),
    env: { PATH: process.env.PATH },
    sources,
  });
  const call = async (name: string, args: object, workspace = top) => {
    const options = { subject: { agent: 'main' }, values: [given(Turn, turnIn(workspace))] };
    return textOf(await booted.kernel.run((run) => run.callTool({ id: 'c', name, args }), options));
  };
  const dispose = async () => {
    await booted[Symbol.asyncDispose]();
    await rm(top, { recursive: true, force: true });
  };
  return { top, booted, call, [Symbol.asyncDispose]: dispose };
}

const closed = ['instar.json5', 'conf/exec.json5', 'linked/part.json5', 'elsewhere/part.json5', 'state/token', 'state/new'];
const fixed = [
  'plugins/mine/index.ts',
  'plugins/new/index.ts',
  'lib/shared.ts',
  'lib/shared',
  'node_modules/dep/index.js',
  'package.json',
  'plugins/node_modules/x/index.js',
];
const changes = (path: string, old: string): Readonly<Record<string, object>> => ({
  write: { path, content: 'evil' },
  edit: { path, oldText: old || 'x', newText: 'evil' },
  'apply_patch that adds': { input: `*** Begin Patch\n*** Add File: ${path}\n+evil\n*** End Patch` },
  'apply_patch that deletes': { input: `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch` },
  'apply_patch that moves': {
    input: `*** Begin Patch\n*** Update File: src/other.ts\n*** Move to: ${path}\n@@\n-${files['src/other.ts']}\n+evil\n*** End Patch`,
  },
});
test.each([...closed, ...fixed])('S11: no tool for files changes %s in the workspace', async (path) => {
  await using at = await project();
  const before = await readFile(join(at.top, path), 'utf8').catch(() => undefined);
  for (const [name, args] of Object.entries(changes(path, before ?? ''))) {
    const told = await at.call(name.split(' ')[0] ?? '', args);
    expect([name, told]).toEqual([
      name,
      expect.stringMatching(/which tools may not touch|tools may read it and not change it|does not exist|exists already/),
    ]);
  }
  expect(await readFile(join(at.top, path), 'utf8').catch(() => undefined)).toBe(before);
  expect(await readFile(join(at.top, 'src/other.ts'), 'utf8')).toBe(files['src/other.ts']);
});

test('S11: secrets and config are not read, the agent’s own plugins are', async () => {
  await using at = await project();
  for (const path of closed)
    expect([path, await at.call('read', { path })]).toEqual([path, expect.stringContaining('which tools may not touch')]);
  expect(await at.call('read', { path: 'plugins/mine/index.ts' })).toBe(files['plugins/mine/index.ts']);
  expect(await at.call('read', { path: 'plugins' })).toBe('mine/');
  expect(await at.call('write', { path: 'src/other.ts', content: 'mine' })).toMatch(/^Replaced/);
});

test('SPEC 2.2: who is to write a plugin is told who can let him', async () => {
  await using at = await project();
  expect(await at.call('write', { path: 'plugins/mine/index.ts', content: 'x' })).toBe(
    `write failed: "plugins/mine/index.ts" belongs to ${at.top}/plugins, which decides what the gateway runs (plugins and what they import, ` +
      'programs of mcp and secrets, or its own): tools may read it and not change it. A person can move the workspace elsewhere, or approve a command that writes there, such as cp',
  );
});

test('S11: a link by which the gateway finds its config is not removed', async () => {
  await using at = await project();
  await symlink('nowhere', join(at.top, 'stale'));
  const remove = (path: string) => at.call('apply_patch', { input: `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch` });
  expect(await remove('linked')).toMatch(/"linked" belongs to .*linked, which tools may not touch/);
  expect(await remove('stale')).toBe('Deleted stale');
});

test('S11: a workspace that is the state folder is refused as a whole, to commands too', async () => {
  await using at = await project();
  const home = join(at.top, 'state');
  const calls = { read: { path: 'token' }, write: { path: 'new', content: 'x' }, exec: { command: 'true' } };
  for (const [name, args] of Object.entries(calls))
    expect(await at.call(name, args, home)).toMatch(/is the state folder.*a person has to give the agent another workspace/);
  expect(existsSync(join(home, 'new'))).toBe(false);
  await mkdir(join(home, 'workspace'));
  expect(await at.call('write', { path: 'new', content: 'x' }, join(home, 'workspace'))).toMatch(/^Created/);
});

test('S11: whoever writes through the guard, as redirections do, meets the same rule', async () => {
  await using at = await project();
  await at.booted.kernel.run(async (run) => {
    const guard = run.get(PathGuard);
    for (const path of [...closed, ...fixed])
      await expect(guard.spot(at.top, path, run)).rejects.toSatisfy((error: KernelError) => error.code === 'PATH_CLOSED');
    await using spot = await guard.spot(at.top, 'src/other.ts', run);
    expect(spot.entry).toBe('other.ts');
  });
});

test('S11: our own code is guarded, also what a reload would take from beside it', async () => {
  await using at = await project();
  const root = join(import.meta.dirname, '../../..');
  const { fixed: code } = await at.booted.kernel.run(guardedOf);
  expect(code).toEqual(expect.arrayContaining(['plugins', 'kernel', 'node_modules', 'package.json'].map((name) => join(root, name))));
});

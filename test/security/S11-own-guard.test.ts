import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { given } from '../../kernel/index.ts';
import { Turn } from '../../plugins/turns/contract.ts';
import { textOf, turnIn } from '../support/toolbench.ts';
import { installation } from './installation.ts';

const subject = { agent: 'main', sender: 'owner', session: 'main', channel: 'chat' } as const;

test('S11: even for its owner a model has no tool that writes the config, the allow list or a policy', async () => {
  await using at = await installation({ tools: { profile: 'full' } });
  await at.test.kernel.run(
    async (run) => {
      const { tools } = await run.tools();
      const gateway = tools.find(({ name }) => name === 'gateway');
      const { action } = (gateway?.parameters['properties'] ?? {}) as { action?: { enum?: readonly string[] } };
      expect(action?.enum?.toSorted()).toEqual(['config.get', 'reload', 'status']);
      for (const wanted of ['config.set', 'config.apply', 'config.patch', 'approvals.answer', 'plugins.install', 'update.run'])
        expect(
          await run.callTool({ id: 'c', name: 'gateway', args: { action: wanted, path: 'tools.exec.security', value: 'full' } }),
        ).toMatchObject({ isError: true });
      // Names under which such a tool would be looked for.
      expect(tools.map(({ name }) => name).filter((name) => /config|polic|approv|plugin|allow|permission/i.test(name))).toEqual([]);
    },
    { subject },
  );
});

test('S11: the file tools reach neither the config nor the state, whatever the workspace is called', async () => {
  await using at = await installation({ tools: { profile: 'full' } });
  const config = join(at.test.home, 'instar.json5');
  await writeFile(config, '{}');
  await at.test.kernel.run(
    async (run) => {
      for (const path of [config, '../instar.json5', './../instar.json5', '../token', '../.env', '../plugins/x/index.ts']) {
        const result = await run.callTool({ id: 'c', name: 'write', args: { path, content: '{ tools: { exec: { security: "full" } } }' } });
        expect([path, result.isError]).toEqual([path, true]);
      }
    },
    { subject },
  );
  expect(await readFile(config, 'utf8')).toBe('{}');
});

test('S11: in a workspace that holds an included config file and a plugin, nothing that runs unasked writes either', async () => {
  const project = await realpath(await mkdtemp(join(tmpdir(), 'instar-project-')));
  await using _ = { [Symbol.asyncDispose]: () => rm(project, { recursive: true, force: true }) };
  const guarded = { 'exec.json5': '{ security: "deny" }', 'plugins/mine/index.ts': 'export default 1;' };
  await mkdir(join(project, 'plugins/mine'), { recursive: true });
  for (const [name, text] of Object.entries(guarded)) await writeFile(join(project, name), text);
  const [file, plugin] = Object.keys(guarded).map((name) => join(project, name)) as [string, string];
  const sources = { config: [file], roots: [join(project, 'plugins')], plugins: [plugin] };
  await using at = await installation({ tools: { profile: 'full', exec: { allowlist: ['echo'] } } }, [], { sources });
  const values = [given(Turn, turnIn(project))];
  await at.test.kernel.run(
    async (run) => {
      const call = async (name: string, args: object) => textOf(await run.callTool({ id: 'c', name, args }));
      expect(await call('exec', { command: 'echo fine > other.txt' })).toContain('[exit code 0]');
      for (const path of Object.keys(guarded)) {
        expect(await call('write', { path, content: 'evil' })).toMatch(/tools may not touch|not change it/);
        expect(await call('exec', { command: `echo evil > ${path}` })).toMatch(/tools may not touch|not change it/);
        expect(await call('exec', { command: `echo evil >> ${path}` })).toMatch(/tools may not touch|not change it/);
      }
    },
    { subject, values },
  );
  for (const [name, text] of Object.entries(guarded)) expect(await readFile(join(project, name), 'utf8')).toBe(text);
});

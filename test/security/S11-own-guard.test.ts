import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { given, Host } from '../../../kernel/index.ts';
import policy from '../../../plugins/policy/index.ts';
import agents from '../../../plugins/agents/index.ts';
import store from '../../../plugins/store/index.ts';
import { hidden } from '../../../plugins/tools-gateway/hidden.ts';
import toolsGateway from '../../../plugins/tools-gateway/index.ts';
import { bootTest, type TestKernel } from '../../support/kernel.ts';
import { allowAll, textOf } from '../../support/toolbench.ts';

/** The test kernel's host, with a config file. */
async function withFile(t: TestKernel, text: string | undefined) {
  const configFile = text === undefined ? undefined : join(t.home, 'instar.json5');
  if (configFile && text !== undefined) await writeFile(configFile, text);
  const host = await t.kernel.run((run) => run.get(Host));
  const values = [given(Host, { ...host, configFile, place: (path) => `instar.json5:1:1 ${path}` })];
  return (args: object) => t.callTool('gateway', args, { subject: { agent: 'main', sender: 'owner' }, values });
}

test('SPEC 2.1: status tells the generation, the plugins and what waits', async () => {
  await using t = await bootTest([toolsGateway, allowAll]);
  const said = textOf(await (await withFile(t, undefined))({ action: 'status' }));
  expect(said).toBe('version: 0.0.0-test\ngeneration: 1\nconfig: none\nturns: 0 running, 0 waiting\nplugins: tools-gateway, allow-all');
});

const config = `{ // with a comment
  agents: { list: [{ id: 'main', model: 'openai/gpt-x' }] },
  models: { providers: { p: { baseUrl: 'https://user:pass@h.example/', apiKey: 'sk-very-secret-1' } } },
  gateway: { port: 1, auth: { token: '\${TOKEN}' } },
  mcp: { servers: { s: { command: 'x', args: ['--api-key', 'abc', '--token=def', '--flag'], env: { A: 'hunter2', B: '\${B}' } } } },
}`;

test('SPEC 2.1: config.get shows what is written, by path, and none of its secrets (U081)', async () => {
  await using t = await bootTest([toolsGateway, allowAll]);
  const ask = await withFile(t, config);
  expect(textOf(await ask({ action: 'config.get', path: 'agents.list[0].model' }))).toBe(
    'instar.json5:1:1 agents.list[0].model\n"openai/gpt-x"',
  );
  const all = textOf(await ask({ action: 'config.get' }));
  for (const secret of ['sk-very', 'user:pass', 'abc', 'def', 'hunter2']) expect(all).not.toContain(secret);
  for (const kept of ['${TOKEN}', '${B}', '--flag', '"port": 1', 'openai/gpt-x']) expect(all).toContain(kept);
  expect(textOf(await ask({ action: 'config.get', path: 'agents.lst' }))).toContain('no "lst"; did you mean "list"?');
});

const secretsAt: readonly (readonly [value: unknown, shown: unknown])[] = [
  [{ apiKey: 'x' }, { apiKey: '[hidden]' }],
  [{ apiKey: '${X}' }, { apiKey: '${X}' }],
  [{ apiKey: 'x${X}' }, { apiKey: '[hidden]' }],
  [{ apiKey: { source: 'env', id: 'OPENAI_API_KEY' } }, { apiKey: { source: 'env', id: 'OPENAI_API_KEY' } }],
  [{ botToken: ['a', 'b'] }, { botToken: ['[hidden]', '[hidden]'] }],
  [{ headers: { 'x-any': 'v' } }, { headers: { 'x-any': '[hidden]' } }],
  [{ tokens: { a: 'b' } }, { tokens: { a: 'b' } }],
  [{ passwords: { bob: 'b' } }, { passwords: { bob: '[hidden]' } }],
  [
    { maxTokens: 5, on: true, nothing: null },
    { maxTokens: 5, on: true, nothing: null },
  ],
  [{ path: '/home/someone/a/long/path/to/some/folder/of/theirs/x' }, { path: '/home/someone/a/long/path/to/some/folder/of/theirs/x' }],
  [{ note: 'ghp_0123456789abcdefABCDEF' }, { note: '[hidden]' }],
];
test.each(secretsAt)('of %j is shown %j', (value, shown) => expect(hidden(value)).toEqual(shown));

test('a config that is not there, or does not parse, is an error that says so', async () => {
  await using t = await bootTest([toolsGateway, allowAll]);
  expect(textOf(await (await withFile(t, undefined))({ action: 'config.get' }))).toContain('there is no config file');
  const broken = await (await withFile(t, '{ a: '))({ action: 'config.get' });
  expect([broken.isError, textOf(broken)]).toEqual([true, expect.stringContaining('cannot be read: JSON5')]);
});

test('SPEC 14.3: reload applies the files from within a turn, and tells a rejection as it is', async () => {
  await using t = await bootTest([toolsGateway, allowAll]);
  const host = await t.kernel.run((run) => run.get(Host));
  const ask = (reload: Host['reload']) => t.callTool('gateway', { action: 'reload' }, { values: [given(Host, { ...host, reload })] });
  expect(textOf(await ask(() => host.reload()))).toBe('nothing has changed: generation 1 goes on');
  const swapped = textOf(await ask(() => t.reload('allow-all')));
  expect(swapped).toMatch(/^generation 2 is live after \d+ ms; this turn ends on the one before\nmade anew: allow-all$/);
  const rejected = await ask(() => Promise.reject(Object.assign(new Error('instar.json5:3:4 unknown key'), { code: 'CONFIG_INVALID' })));
  expect([rejected.isError, textOf(rejected)]).toEqual([
    true,
    'the reload was rejected, and everything goes on as it was:\nCONFIG_INVALID: instar.json5:3:4 unknown key',
  ]);
});

test.each(['known', 'unknown', undefined] as const)('SPEC 3.3: sender %s is not offered it, and cannot call it', async (sender) => {
  await using t = await bootTest([store, agents, policy, toolsGateway], { agents: { list: [{ id: 'main' }] } });
  const subject = { agent: 'main', session: 'direct', ...(sender && { sender }) } as const;
  const offered = await t.kernel.run(async (run) => (await run.tools()).tools.map(({ name }) => name), { subject });
  expect(offered).not.toContain('gateway');
  expect(await t.callTool('gateway', { action: 'status' }, { subject })).toMatchObject({ isError: true, details: { code: 'TOOL_DENIED' } });
});

test.each([{ action: 'config.patch' }, { action: 'restart' }, {}])(
  'SPEC 2.2: %j is answered with what there is (U087: nothing here changes a setting)',
  async (args) => {
    await using t = await bootTest([toolsGateway, allowAll]);
    const result = await t.callTool('gateway', args);
    expect([result.isError, textOf(result)]).toEqual([
      true,
      expect.stringMatching(/wrong arguments for gateway: .*(?:status, config\.get, reload|"action" is missing)/),
    ]);
  },
);

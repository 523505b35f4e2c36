import { expect, test } from 'vitest';
import { DecideTool } from '../../../kernel/index.ts';
import { Methods } from '../../../plugins/gateway/contract.ts';
import type { Explanation } from '../../../plugins/policy/contract.ts';
import { installation } from '../../security/installation.ts';
import { textOf } from '../../support/toolbench.ts';
import { boot, offered, toolOf } from './catalog.ts';

const owner = { agent: 'main', channel: 'chat', sender: 'owner', session: 'main', depth: 0 } as const;
const child = { ...owner, session: 'subagent', depth: 1 } as const;

test('U057: what a parent is denied its child is denied too, when tools are offered and again when it calls', async () => {
  await using at = await boot(['read', 'exec'], {
    tools: { deny: ['exec'] },
    agents: { list: [{ id: 'main', tools: { deny: ['write'] } }] },
  });
  for (const subject of [owner, child, { ...child, depth: 2 }]) {
    expect((await offered(at, subject)).left).toEqual(['read']);
    for (let i = 0; i < 15; i++)
      expect(textOf(await at.callTool('exec', {}, { subject }))).toMatch(/not available here: tools\.deny names "exec"/);
    const decide = (name: string) => at.kernel.run((run) => run.call(DecideTool, { id: '1', tool: toolOf(name), args: {} }), { subject });
    expect([await decide('exec'), await decide('write')]).toMatchObject([{ kind: 'deny' }, { kind: 'deny' }]);
  }
});

test('U063: an allow list of sub-agents restricts and adds nothing, and explain tells what each layer left', async () => {
  const config = { tools: { profile: 'coding', subagents: { tools: { allow: ['browser', 'read'] } } } };
  await using at = await boot(['read', 'write', 'browser'], config);
  expect((await offered(at, child)).left).toEqual(['read']);
  const { layers, tools } = await at.kernel.run(
    async (run) => (await run.call(Methods, {}))['policy.explain']?.({ depth: 1 }, {} as never, run) as Promise<Explanation>,
  );
  expect(layers).toEqual([
    { layer: 'config', removed: ['browser'], left: 2 },
    { layer: 'confinement', removed: ['write'], left: 1 },
  ]);
  expect(tools.find(({ tool }) => tool === 'browser')).toMatchObject({ why: expect.stringContaining('tools.alsoAllow can add it') });
});

test('U064: what is offered can be called, and what is not cannot: both go by one list', { timeout: 60_000 }, async () => {
  await using at = await installation({ tools: { profile: 'full', deny: ['write'] } });
  const { tools, removed } = await at.run((run) => run.as({ subject: owner }).tools());
  expect(tools.length).toBeGreaterThan(5);
  const codeOf = (name: string) =>
    at.run(async (run) => {
      const { details } = await run.as({ subject: owner }).callTool({ id: 'c', name, args: { 'no such argument': 1 } });
      return (details as { readonly code?: string } | undefined)?.code;
    });
  for (const { name } of tools) expect([name, await codeOf(name)]).toEqual([name, 'TOOL_ARGUMENTS']);
  for (const { tool } of removed) expect([tool, await codeOf(tool)]).toEqual([tool, 'TOOL_DENIED']);
  expect(await codeOf('no_such_tool')).toBe('TOOL_UNKNOWN');
});

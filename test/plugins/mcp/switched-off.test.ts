import { expect, test } from 'vitest';
import { given } from '../../../kernel/index.ts';
import agents from '../../../plugins/agents/index.ts';
import mcp from '../../../plugins/mcp/index.ts';
import policy from '../../../plugins/policy/index.ts';
import toolsExec from '../../../plugins/tools-exec/index.ts';
import { Turn } from '../../../plugins/turns/contract.ts';
import { textOf, turnIn } from '../../support/toolbench.ts';
import { isUp, mcpBench, ours } from './bench.ts';

const after: readonly (readonly [what: string, servers: object])[] = [
  ['switched off', { my: { ...ours, enabled: false } }],
  ['taken out', {}],
];
test.each(after)(
  'S6: a server that is %s is called no more, by a run that began with it neither',
  { timeout: 30_000 },
  async (_, servers) => {
    const plugins = [agents, policy, toolsExec, mcp];
    await using bench = await mcpBench({ my: ours }, plugins);
    await isUp(bench, 'my');
    const values = [given(Turn, turnIn(bench.workspace))];
    const subject = { agent: 'main', sender: 'owner', session: 'main' } as const;
    const call = { id: 'c', name: 'mcp__my__echo', args: { text: 'hello' } };
    await bench.test.kernel.run(
      async (run) => {
        expect(textOf(await run.callTool(call))).toContain('hello');
        await bench.test.apply(plugins, { mcp: { servers } });
        const told = textOf(await run.callTool(call));
        expect(told).toBe('mcp__my__echo was denied: the MCP server of mcp__my__echo is switched off or gone');
      },
      { subject, values },
    );
  },
);

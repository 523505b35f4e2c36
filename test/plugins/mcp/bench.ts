import { join } from 'node:path';
import { expect } from 'vitest';
import type { Plugin } from '../../../kernel/index.ts';
import { McpServers } from '../../../plugins/mcp/contract.ts';
import mcp from '../../../plugins/mcp/index.ts';
import toolsExec from '../../../plugins/tools-exec/index.ts';
import { allowAll, toolbench, type Toolbench } from '../../support/toolbench.ts';

export const ours = { command: process.execPath, args: [join(import.meta.dirname, 'server.ts')], allow: ['*'] };

export async function mcpBench(servers: object, plugins: readonly Plugin[] = [toolsExec, mcp, allowAll]): Promise<Toolbench> {
  return toolbench(plugins, { mcp: { servers } }, { env: { ...process.env, INSTAR_NO_DETECT: '1' } });
}

export const states = ({ test }: Toolbench) => test.kernel.run((run) => run.get(McpServers).list());
export const offered = ({ test }: Toolbench) =>
  test.kernel.run(async (run) => (await run.tools()).tools.map(({ name }) => name).filter((name) => name.startsWith('mcp__')));

export async function isUp(bench: Toolbench, ...names: readonly string[]) {
  const up = async () => (await states(bench)).filter(({ state }) => state === 'up').map(({ name }) => name);
  await expect.poll(up, { timeout: 20_000, interval: 20 }).toEqual(expect.arrayContaining([...names]));
}

import { expect, test } from 'vitest';
import agents from '../../../plugins/agents/index.ts';
import { type Client, type Method, Methods } from '../../../plugins/gateway/contract.ts';
import type { SandboxExplained } from '../../../plugins/sandbox/contract.ts';
import sandbox from '../../../plugins/sandbox/index.ts';
import { bootTest } from '../../support/kernel.ts';

test.each([
  [{}, 'built in; agents.defaults.sandbox.mode sets it'],
  [{ defaults: { sandbox: { mode: 'off' } } }, 'agents.defaults.sandbox.mode'],
  [{ list: [{ id: 'main', sandbox: { mode: 'off' } }] }, 'agents.list[0].sandbox.mode'],
])('%j: a built-in mode has no place in the config', async (config, place) => {
  await using t = await bootTest([agents, sandbox], { agents: config });
  const { sessions } = await t.kernel.run(async (run) => {
    const methods = await run.call(Methods, {});
    return (await (methods['sandbox.explain'] as Method)({}, {} as Client, run)) as SandboxExplained;
  });
  expect(sessions[0]?.place).toBe(place);
});

import { expect, test } from 'vitest';
import agents from '../../../plugins/agents/index.ts';
import type { ModelLine } from '../../../plugins/failover/contract.ts';
import failover from '../../../plugins/failover/index.ts';
import { type Client, type Method, Methods } from '../../../plugins/gateway/contract.ts';
import demo from '../../../plugins/model-demo/index.ts';
import models from '../../../plugins/models/index.ts';
import { bootTest } from '../../support/kernel.ts';

test('models list has what agents name, also of a provider without a block; what cannot be had is not made up', async () => {
  const defaults = { model: { primary: 'anthropic/claude-any', fallbacks: ['openai/gpt-any', 'nowhere/x'] } };
  await using t = await bootTest([agents, models, demo, failover], { agents: { defaults } }, { env: { INSTAR_NO_DETECT: '1' } });
  const { models: lines } = await t.kernel.run(async (run) => {
    const methods = await run.call(Methods, {});
    return (await (methods['models.list'] as Method)({}, {} as Client, run)) as { models: readonly ModelLine[] };
  });
  expect(lines.map(({ model, usedBy }) => [model, usedBy])).toEqual([
    ['demo/demo', []],
    ['anthropic/claude-any', ['main']],
    ['openai/gpt-any', ['main (fallback 1)']],
  ]);
});

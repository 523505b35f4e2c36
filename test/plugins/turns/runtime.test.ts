import { expect, test } from 'vitest';
import { definePlugin, SelectRuntime } from '../../../kernel/index.ts';
import type { TurnRuntime } from '../../../plugins/turns/contract.ts';
import { noUsage } from '../../../plugins/turns/outcomes.ts';
import { product } from '../runtime-embedded/product.ts';

const other: TurnRuntime = {
  id: 'other',
  turn: async () => ({ payloads: [{ text: 'from elsewhere' }], usage: noUsage, stopReason: 'stop' }),
};

test('SPEC 6.5: which runtime runs a turn is asked for each message; where no plugin claims it, it is the embedded one', async () => {
  let isReady = false;
  const claims = definePlugin({
    name: 'claims',
    description: 'runs turns elsewhere while it is ready',
    setup: (ctx) => ctx.tap(SelectRuntime, () => (isReady ? other : undefined)),
  });
  await using p = await product(['embedded', 'embedded again'], { plugins: [claims] });
  const said: string[] = [];
  for (const ready of [false, true, false]) {
    isReady = ready;
    said.push((await p.channel.ask('go')).text);
  }
  expect(said).toEqual(['embedded', 'from elsewhere', 'embedded again']);
});

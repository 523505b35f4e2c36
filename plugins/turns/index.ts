import { definePlugin } from '../../kernel/index.ts';
import { Turns } from './contract.ts';
import { endItems } from './ending.ts';
import { takeItem } from './take.ts';

export default definePlugin({
  name: 'turns',
  description: 'The way of one message: session, model, tools, prompt, runtime, transcript, outbox',
  required: true,
  provides: [Turns],
  setup(ctx) {
    ctx.provide(Turns, {
      take: (item, run, claim) => takeItem(item, run, ctx.log, claim),
      end: async (items, outcome, run) => void (await (await endItems(items, outcome, run)).deliver()),
    });
  },
});

import { definePlugin } from '../../kernel/index.ts';
import { UsualFields, usualIn } from '../agents/contract.ts';
import { Turns } from './contract.ts';
import { endItems } from './ending.ts';
import { takeItem } from './take.ts';
import { agentFields } from './time-limit.ts';

export default definePlugin({
  name: 'turns',
  description: 'The way of one message: session, model, tools, prompt, runtime, transcript, outbox',
  required: true,
  config: {
    schema: { type: 'object', additionalProperties: false, properties: {} },
    extends: { 'agents.entry': agentFields, 'agents.defaults': agentFields },
  },
  provides: [Turns],
  setup(ctx) {
    ctx.tap(UsualFields, (fields) => ({ ...usualIn(agentFields), ...fields }));
    ctx.provide(Turns, {
      take: (item, run, claim) => takeItem(item, run, ctx.log, claim),
      async end(items, outcome, run) {
        const { deliver } = await endItems(items, outcome, run);
        const unsent = (error: unknown) => ctx.log.error('an answer waits for the next start', { error, itemId: items.at(-1)?.itemId });
        return { sent: deliver().then(() => {}, unsent) };
      },
    });
  },
});

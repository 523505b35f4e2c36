import { definePlugin } from '../../kernel/index.ts';
import { Store } from '../store/contract.ts';
import { Outbox } from './contract.ts';
import { openRows, tables } from './delivery-rows.ts';
import { openOutbox } from './outbox.ts';

export default definePlugin({
  name: 'outbox',
  description: 'the one way out: answers as durable rows, sent until delivered',
  required: true,
  needs: { store: Store },
  provides: [Outbox],
  async setup(ctx) {
    const { store } = ctx.needs;
    await store.migrate('outbox', tables);
    const outbox = openOutbox(store, ctx);
    ctx.provide(Outbox, outbox);
    const first = await ctx.lease('outbox.recovery', () => ({ pending: true, async [Symbol.asyncDispose]() {} }));
    ctx.onLive(async () => {
      if (!first.pending) return; // a reload, not a start: rows in flight are in good hands
      first.pending = false;
      const waiting = await store.tx(openRows);
      for (const delivery of waiting) await ctx.run((run) => outbox.deliver(run, delivery));
    });
  },
});

import { definePlugin } from '../../kernel/index.ts';
import { Store } from '../store/contract.ts';
import { Turns } from '../turns/contract.ts';
import { Inbox, type InboxItem } from './contract.ts';
import { openInbox } from './inbox.ts';
import { tables, takeUp } from './item-rows.ts';
import { openLanes } from './lanes.ts';

export default definePlugin({
  name: 'inbox',
  description: 'the one way in: durable items, one turn at a time per session',
  required: true,
  needs: { store: Store },
  provides: [Inbox],
  async setup(ctx) {
    const { store } = ctx.needs;
    await store.migrate('inbox', tables);
    const { run, log } = ctx;
    const take = (item: InboxItem, signal: AbortSignal) => run((r) => r.get(Turns).take(item, r), { signal });
    const broke = (error: unknown) => log.error('a turn broke', { error });
    // Read before anything can be enqueued, so that nothing new is taken for a leftover.
    const lanes = await ctx.lease('inbox.lanes', async () => openLanes(take, broke, await store.tx(takeUp)));
    ctx.provide(Inbox, openInbox(store, lanes));
    ctx.onLive(() => lanes.begin());
  },
});

import { definePlugin } from '../../kernel/index.ts';
import { Store } from '../store/contract.ts';
import { Turns } from '../turns/contract.ts';
import { Inbox, type InboxItem } from './contract.ts';
import { openInbox } from './inbox.ts';
import { countAttempt, pruneItems, tables, takeUp } from './item-rows.ts';
import { openLanes } from './lanes.ts';

/** How long an idempotency key is known after its item's end. */
const keptMs = 7 * 86_400_000;

export default definePlugin({
  name: 'inbox',
  description: 'The one way in: durable items, one turn at a time per session',
  required: true,
  needs: { store: Store },
  provides: [Inbox],
  async setup(ctx) {
    const { store } = ctx.needs;
    await store.migrate('inbox', tables);
    const { run, log } = ctx;
    const take = async (item: InboxItem, signal: AbortSignal) => {
      if (item.attempt > 1) await store.insist((t) => countAttempt(t, item), signal);
      await run((r) => r.get(Turns).take(item, r), { signal });
    };
    const broke = (error: unknown) => log.error('a turn broke', { error });
    // Read before anything can be enqueued, so that nothing new is taken for a leftover.
    const lanes = await ctx.lease('inbox.lanes', async () => openLanes(take, broke, await store.tx(takeUp)));
    ctx.provide(Inbox, openInbox(store, lanes, ctx.signal));
    ctx.onLive(() => {
      lanes.begin();
      const prune = () =>
        void store
          .tx((t) => pruneItems(t, Date.now() - keptMs))
          .catch((error) => log.error('old inbox rows could not be removed', { error }));
      const timer = setInterval(prune, 86_400_000).unref();
      ctx.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
      prune();
    });
  },
});

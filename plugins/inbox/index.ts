import { definePlugin, GenerationSwapped, type Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { Methods } from '../gateway/contract.ts';
import { Store } from '../store/contract.ts';
import { Turns } from '../turns/contract.ts';
import { ChatWords, type Claim, Inbox, type InboxItem, LaneLimits } from './contract.ts';
import { obeyed, openInbox } from './inbox.ts';
import { countAttempt, pruneItems, tables, takeUp } from './item-rows.ts';
import { openLanes } from './lanes.ts';
import { EndUnanswered, endUnanswered, type Unanswered } from './obey.ts';
import { type QueueConfig, schema } from './queue.ts';
import { ownWords } from './words.ts';

/** How long an idempotency key is known after its item's end. */
const keptMs = 7 * 86_400_000;
const usualLimits = { main: 4, subagent: 8, cron: 2 };
/** Until the limits are known, which is once we are live. */
const closed = { main: 0, subagent: 0, cron: 0 };

export default definePlugin({
  name: 'inbox',
  description: 'The one way in: durable items, one turn at a time per session',
  required: true,
  config: { at: 'messages.queue', schema },
  needs: { store: Store },
  provides: [Inbox],
  async setup(ctx) {
    const { store } = ctx.needs;
    const config = ctx.config as QueueConfig;
    await store.migrate('inbox', tables);
    const { run, log } = ctx;
    const take = async (item: InboxItem, signal: AbortSignal, claim: Claim) => {
      if (item.attempt > 1) await store.insist((t) => countAttempt(t, item));
      await run((r) => r.get(Turns).take(item, r, claim), { signal });
    };
    const report = (error: unknown) => log.error('a turn broke', { error });
    const unlimited = (error: unknown) => {
      log.error('the limits of the lanes could not be asked; the usual ones count', { error });
      return usualLimits;
    };
    const end = (one: Unanswered) => {
      const late = (error: unknown) => log.error('a message waits for the next start', { error, itemId: one.item.itemId });
      void run((r) => r.call(EndUnanswered, one))
        .catch(late)
        .finally(() => 'swept' in one && one.swept?.release());
    };
    // Read before anything can be enqueued, so that nothing new is taken for a leftover.
    const lanes = await ctx.lease('inbox.lanes', async () => openLanes({ take, report, limits: closed, left: await store.tx(takeUp) }));
    ctx.provide(Inbox, openInbox({ store, lanes, config, end, words: () => words }));
    ctx.tap(EndUnanswered, (one, r) => endUnanswered(one, r, config));
    let words: ReadonlySet<string> | undefined;
    const learn = async (r: Run) => {
      words = new Set((await r.call(ChatWords, ownWords)).map(({ word }) => word));
    };
    ctx.tap(GenerationSwapped, async (_, r) => {
      await learn(r);
      lanes.limit(await r.call(LaneLimits, limitsOf(r)));
    });
    ctx.tap(Methods, (methods) => ({ ...methods, 'inbox.list': () => ({ items: lanes.active() }) }));
    ctx.onLive(async () => {
      lanes.begin((item) => obeyed(item, lanes, end), config); // before anything new is enqueued
      const prune = () =>
        void store
          .tx((t) => pruneItems(t, Date.now() - keptMs))
          .catch((error) => log.error('old inbox rows could not be removed', { error }));
      const timer = setInterval(prune, 86_400_000).unref();
      ctx.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
      prune();
      lanes.limit(await run((r) => r.call(LaneLimits, limitsOf(r))).catch(unlimited));
    });
  },
});

/** Agents change while this instance lives: asked late. */
function limitsOf(run: Run): Readonly<Record<string, number>> {
  const { maxConcurrent, subagents } = (run.find(Agents)?.defaults ?? {}) as {
    readonly maxConcurrent?: number;
    readonly subagents?: { readonly maxConcurrent?: number };
  };
  return {
    ...usualLimits,
    ...(maxConcurrent && { main: maxConcurrent }),
    ...(subagents?.maxConcurrent && { subagent: subagents.maxConcurrent }),
  };
}

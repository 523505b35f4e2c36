import { definePlugin } from '../../kernel/index.ts';
import { Methods } from '../gateway/contract.ts';
import { Store } from '../store/contract.ts';
import { type Delivery, Outbox } from './contract.ts';
import { openRows, pruneRows, tables } from './delivery-rows.ts';
import { openLines } from './lines.ts';
import { outboxMethods } from './methods.ts';
import { openOutbox } from './outbox.ts';

/** How long an answer can still be asked for after its delivery. */
const keptMs = 7 * 86_400_000;

export default definePlugin({
  name: 'outbox',
  description: 'The one way out: answers as durable rows, sent until delivered',
  required: true,
  needs: { store: Store },
  provides: [Outbox],
  async setup(ctx) {
    const { store } = ctx.needs;
    await store.migrate('outbox', tables);
    const { run, log } = ctx;
    const unsent = (error: unknown) => log.error('a delivery broke; its row waits for the next start', { error });
    const send = (delivery: Delivery) => run(async (r) => void (await r.get(Outbox).deliver(r, delivery))).catch(unsent);
    // Read before any turn can end, so that no row on its way is taken for a leftover.
    const lines = await ctx.lease('outbox.lines', async () => openLines(send, await store.tx(openRows)));
    ctx.provide(Outbox, openOutbox(store, lines, log));
    const own = outboxMethods({ store, lines, send: (delivery) => void send(delivery) });
    ctx.tap(Methods, (methods) => ({ ...methods, ...own }));
    ctx.onLive(() => {
      lines.begin();
      const prune = () =>
        void store
          .tx((t) => pruneRows(t, Date.now() - keptMs))
          .catch((error) => log.error('old outbox rows could not be removed', { error }));
      const timer = setInterval(prune, 86_400_000).unref();
      ctx.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
      prune();
    });
  },
});

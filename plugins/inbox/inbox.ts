import { randomUUID } from 'node:crypto';
import type { Store } from '../store/contract.ts';
import type { Inbox } from './contract.ts';
import { finishItem, insertItem, itemOfKey } from './item-rows.ts';
import type { Lanes } from './lanes.ts';

export function openInbox(store: Store, lanes: Lanes, signal: AbortSignal): Inbox {
  return {
    async enqueue(arrival) {
      const item = { ...arrival, itemId: randomUUID(), enqueuedAt: Date.now(), attempt: 1 };
      const known = await store.tx(async (t) => {
        const before = arrival.idempotencyKey ? await itemOfKey(t, arrival.idempotencyKey) : undefined;
        if (!before) await insertItem(t, item);
        return before;
      });
      if (known) return { ...known, known: true };
      lanes.enqueue(item);
      return { itemId: item.itemId, state: 'open', known: false };
    },
    abort: (sessionKey, why) => lanes.abort(sessionKey, why),
    async cancel(itemId, why) {
      const was = lanes.cancel(itemId, why);
      if (was === 'waiting') await store.insist((t) => finishItem(t, itemId, 'cancelled', null, Date.now()), signal);
      return was !== undefined;
    },
    async finish(t, itemId, state, runId) {
      await finishItem(t, itemId, state, runId, Date.now());
    },
    active: lanes.active,
  };
}

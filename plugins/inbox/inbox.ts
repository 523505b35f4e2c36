import { randomUUID } from 'node:crypto';
import { refusal } from '../gateway/contract.ts';
import type { Store } from '../store/contract.ts';
import { Turn, WorkTime } from '../turns/contract.ts';
import type { Inbox, InboxItem } from './contract.ts';
import { commandOf } from './door.ts';
import { finishItem, insertItem, itemOfKey, modeOf } from './item-rows.ts';
import type { Lanes } from './lanes.ts';
import { endSwept, type Unanswered } from './obey.ts';
import { boundsFor, modeFor, type QueueConfig } from './queue.ts';

export interface InboxAround {
  readonly store: Store;
  readonly lanes: Lanes;
  readonly config: QueueConfig;
  /** Sees to items that no turn answers, on its own time: it must not hold up who hands in the next. */
  readonly end: (one: Unanswered) => void;
  /** Words that other plugins obey; undefined until they are known. */
  readonly words: () => ReadonlySet<string> | undefined;
}

export function openInbox({ store, lanes, config, end, words }: InboxAround): Inbox {
  function arrive(item: InboxItem) {
    if (obeyed(item, lanes, end, words())) return;
    const refused = lanes.enqueue(item, boundsFor(item, config));
    if (refused) end({ kind: 'refused', item: refused });
  }

  return {
    async enqueue(arrival) {
      const came = { ...arrival, itemId: randomUUID(), enqueuedAt: Date.now(), attempt: 1 };
      const { known, item } = await store.tx(async (t) => {
        const before = await itemOfKey(t, arrival);
        const mode = modeFor(arrival, before ? undefined : await modeOf(t, arrival.sessionKey), config);
        const fresh: InboxItem = { ...came, mode };
        if (!before) await insertItem(t, fresh);
        return { known: before, item: fresh };
      });
      if (known?.isOther) throw otherMessage();
      if (known) return { itemId: known.itemId, state: known.state, known: true };
      arrive(item);
      return { itemId: item.itemId, state: 'open', known: false };
    },
    abort: (sessionKey, why) => lanes.abort(sessionKey, why),
    async clear(sessionKey, run, work) {
      const swept = lanes.sweep(sessionKey);
      try {
        await endSwept(swept, run);
        return await work();
      } finally {
        swept.release();
      }
    },
    async cancel(itemId, why) {
      const was = lanes.cancel(itemId, why);
      if (was === 'waiting') await store.insist((t) => finishItem(t, itemId, 'cancelled', null, Date.now()));
      return was !== undefined;
    },
    async finish(t, itemId, state, runId) {
      await finishItem(t, itemId, state, runId, Date.now());
    },
    aside: (run, work) => {
      const turn = run.find(Turn);
      if (!turn) return work();
      const waiting = () => lanes.aside(turn.itemId, work);
      return run.find(WorkTime)?.waits(waiting) ?? waiting();
    },
    active: lanes.active,
  };
}

const otherMessage = () =>
  refusal(422, 'IDEMPOTENCY_KEY_USED', 'this idempotency key came before, with another message or to another session; use a new key');

/** True where the item is a command: it ends what it says to end now, and is answered soon. */
export function obeyed(item: InboxItem, lanes: Lanes, end: InboxAround['end'], words?: ReadonlySet<string>): boolean {
  const command = commandOf(item, words);
  if (!command) return false;
  end({ kind: 'command', item, ...(command.name !== 'queue' && command.name !== 'help' && { swept: lanes.sweep(item.sessionKey) }) });
  return true;
}

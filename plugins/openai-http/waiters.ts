import type { Leasable } from '../../kernel/index.ts';
import type { Delivery, SendResult } from '../outbox/contract.ts';

/** An open request that waits for its answer. */
export interface Waiter {
  readonly answer: Promise<Delivery>;
  answered(delivery: Delivery): void;
  failed(error: unknown): void;
  /** The same answer comes under the item's id to those who joined it later. */
  joins(itemId: string): void;
  /** Tells the outbox how it ended, once the response is out or lost. */
  settle(result: SendResult): void;
}

/** Open requests by what their answer comes under. A lease: a request outlives reloads, and its answer finds it. */
export interface Waiters extends Leasable {
  open(route: string): Waiter;
  /** Undefined where nobody waits. */
  send(delivery: Delivery): Promise<SendResult> | undefined;
}

interface Open {
  readonly answer: PromiseWithResolvers<Delivery>;
  readonly settled: PromiseWithResolvers<SendResult>;
}

export function openWaiters(): Waiters {
  const waiting = new Map<string, Set<Open>>();
  const add = (name: string, open: Open) => waiting.set(name, (waiting.get(name) ?? new Set()).add(open));
  const drop = (name: string, open: Open) => {
    const those = waiting.get(name);
    those?.delete(open);
    if (those?.size === 0) waiting.delete(name);
  };
  return {
    open(route) {
      const open: Open = { answer: Promise.withResolvers(), settled: Promise.withResolvers() };
      const names = [route];
      add(route, open);
      open.answer.promise.catch(() => {}); // whoever waits has it too
      return {
        answer: open.answer.promise,
        answered: open.answer.resolve,
        failed: open.answer.reject,
        joins(itemId) {
          names.push(itemId);
          add(itemId, open);
        },
        settle(result) {
          for (const name of names) drop(name, open);
          open.settled.resolve(result);
        },
      };
    },
    send(delivery) {
      const all = new Set([...(waiting.get(delivery.route) ?? []), ...(waiting.get(delivery.itemId) ?? [])]);
      if (all.size === 0) return undefined;
      for (const { answer } of all) answer.resolve(delivery);
      return best([...all].map(({ settled }) => settled.promise));
    },
    resume() {}, // holds nothing of the outside world
    async [Symbol.asyncDispose]() {},
  };
}

/** Delivered if it reached anyone. */
async function best(all: readonly Promise<SendResult>[]): Promise<SendResult> {
  const results = await Promise.all(all);
  return results.find(({ kind }) => kind === 'delivered') ?? results[0] ?? { kind: 'gone', why: 'nobody waits' };
}

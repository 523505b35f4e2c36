import type { Leasable } from '../../kernel/index.ts';
import type { Delivery } from './contract.ts';

/** Rows that wait for their next attempt. A lease: a reload in between neither loses one nor hurries it. */
export interface Retries extends Leasable {
  /** Once live: what the last process left goes at once, in order per route. Later calls find none. */
  begin(): void;
  again(delivery: Delivery, ms: number): void;
  /** Sends one that waits for its time now. False where it does not, e.g. because it is being sent. */
  hurry(id: string): boolean;
  forget(id: string): void;
}

/** `send` does not reject: what it cannot do stays in its row. */
export function openRetries(send: (delivery: Delivery) => Promise<void>, left: readonly Delivery[]): Retries {
  const leftovers = [...left];
  const waiting = new Map<Delivery, NodeJS.Timeout | undefined>();
  let isEnding = false;

  function again(delivery: Delivery, ms: number) {
    const go = () => {
      waiting.delete(delivery);
      void send(delivery);
    };
    waiting.set(delivery, isEnding ? undefined : setTimeout(go, ms).unref());
  }

  function take(id: string): Delivery | undefined {
    const delivery = waiting.keys().find((one) => one.id === id);
    if (!delivery) return undefined;
    clearTimeout(waiting.get(delivery));
    waiting.delete(delivery);
    return delivery;
  }

  async function inOrder(deliveries: readonly Delivery[]) {
    for (const delivery of deliveries) await send(delivery);
  }

  return {
    begin() {
      const routes = Map.groupBy(leftovers.splice(0), ({ route }) => route);
      for (const deliveries of routes.values()) void inOrder(deliveries);
    },
    again,
    hurry(id) {
      const delivery = take(id);
      if (delivery) void send(delivery);
      return delivery !== undefined;
    },
    forget: (id) => void take(id),
    /** The gateway is ending: their rows wait for the next start. */
    retire() {
      isEnding = true;
      for (const timer of waiting.values()) clearTimeout(timer);
    },
    resume() {
      isEnding = false;
      for (const delivery of waiting.keys()) again(delivery, 1_000);
    },
    async [Symbol.asyncDispose]() {},
  };
}

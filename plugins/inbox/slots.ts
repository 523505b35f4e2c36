/** A request for a place; `withdraw` does nothing once it was granted. */
export interface Ticket {
  readonly withdraw: () => void;
}

interface Waiting {
  readonly grant: () => void;
}

interface Pool {
  used: number;
  /** Turns that stepped aside and go on: before those that begin, for they hold their session. */
  readonly returning: Waiting[];
  readonly fresh: Waiting[];
}

export type Slots = ReturnType<typeof openSlots>;

/** Places per lane, given to who has waited longest. A session asks for one at a time, so that sessions take turns. */
export function openSlots(initial: Readonly<Record<string, number>>) {
  const pools = new Map<string, Pool>();
  let limits = initial;
  let isPaused = false;

  function poolOf(lane: string): Pool {
    const pool = pools.get(lane) ?? { used: 0, returning: [], fresh: [] };
    pools.set(lane, pool);
    return pool;
  }

  /** A grant may ask and release in its turn: each step looks again. */
  function pump(lane: string) {
    const pool = poolOf(lane);
    while (pool.used < (limits[lane] ?? Number.POSITIVE_INFINITY)) {
      const next = pool.returning.shift() ?? (isPaused ? undefined : pool.fresh.shift());
      if (!next) return;
      pool.used++;
      next.grant();
    }
  }

  const pumpAll = () => {
    for (const lane of pools.keys()) pump(lane);
  };

  return {
    /** `grant` may be called before this returns. */
    ask(lane: string, grant: () => void, from: 'fresh' | 'returning' = 'fresh'): Ticket {
      const line = poolOf(lane)[from];
      const waiting = { grant };
      line.push(waiting);
      pump(lane);
      return {
        withdraw() {
          const at = line.indexOf(waiting);
          if (at >= 0) line.splice(at, 1);
        },
      };
    },
    release(lane: string) {
      poolOf(lane).used--;
      pump(lane);
    },
    limit(next: Readonly<Record<string, number>>) {
      limits = next;
      pumpAll();
    },
    /** Nothing begins; what runs goes on. */
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
      pumpAll();
    },
    used: (lane: string) => poolOf(lane).used,
  };
}

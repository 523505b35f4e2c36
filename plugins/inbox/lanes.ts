import type { InboxItem } from './contract.ts';

interface Running {
  readonly item: InboxItem;
  readonly abort: AbortController;
  readonly since: number;
}

interface Lane {
  readonly waiting: InboxItem[];
  running?: Running | undefined;
}

export type Lanes = ReturnType<typeof openLanes>;

const waitingItem = ({ sessionKey, itemId, enqueuedAt }: InboxItem) => ({
  sessionKey,
  itemId,
  state: 'waiting' as const,
  since: enqueuedAt,
});

/** One turn at a time per session. A lease: what runs and waits outlives reloads. `left` is what the last process left behind. */
export function openLanes(
  take: (item: InboxItem, signal: AbortSignal) => Promise<void>,
  report: (error: unknown) => void,
  left: readonly InboxItem[],
) {
  const lanes = new Map<string, Lane>();
  const leftovers = [...left];
  let stopped = false;

  function next(key: string, lane: Lane) {
    if (lane.running || stopped) return;
    const item = lane.waiting.shift();
    if (!item) {
      lanes.delete(key);
      return;
    }
    const abort = new AbortController();
    lane.running = { item, abort, since: Date.now() };
    take(item, abort.signal)
      .catch(report)
      .finally(() => {
        lane.running = undefined;
        next(key, lane);
      });
  }

  const running = (key: string) => lanes.get(key)?.running;

  function enqueue(item: InboxItem) {
    const lane = lanes.get(item.sessionKey) ?? { waiting: [] };
    lanes.set(item.sessionKey, lane);
    lane.waiting.push(item);
    next(item.sessionKey, lane);
  }

  return {
    enqueue,
    /** Once live: the leftovers go first. Later calls find none. */
    begin() {
      for (const item of leftovers.splice(0)) enqueue(item);
    },
    abort(key: string, why: string): boolean {
      running(key)?.abort.abort(new DOMException(why, 'AbortError'));
      return running(key) !== undefined;
    },
    /** Takes an item out of its lane; `running` ones are told to end. */
    cancel(itemId: string, why: string): 'waiting' | 'running' | undefined {
      for (const [key, lane] of lanes) {
        const at = lane.waiting.findIndex((item) => item.itemId === itemId);
        if (at >= 0) lane.waiting.splice(at, 1);
        if (at >= 0) return 'waiting';
        if (lane.running?.item.itemId === itemId) return this.abort(key, why) ? 'running' : undefined;
      }
      return undefined;
    },
    active: () => [
      ...[...lanes].flatMap(([sessionKey, { running: now, waiting }]) => [
        ...(now ? [{ sessionKey, itemId: now.item.itemId, state: 'running' as const, since: now.since }] : []),
        ...waiting.map(waitingItem),
      ]),
      ...leftovers.map(waitingItem),
    ],
    /** The gateway is ending: what waits stays in its rows for the next start. */
    retire() {
      stopped = true;
    },
    resume() {
      stopped = false;
      for (const [key, lane] of lanes) next(key, lane);
    },
    async [Symbol.asyncDispose]() {},
  };
}

import type { ActiveItem, Claim, InboxItem } from './contract.ts';
import { joiners, laneOf, mayInterrupt } from './joining.ts';
import { asAnswered, makeRoom, type Room, shortenLeftovers } from './overflow.ts';
import { openSlots, type Ticket } from './slots.ts';

/** A turn under way. */
interface Running {
  readonly items: InboxItem[];
  readonly abort: AbortController;
  readonly since: number;
  readonly lane: string;
  /** Its place: `held`, given away while it waits for others, or let go for good. */
  place: 'held' | 'aside' | 'free';
  asides: number;
  readonly ended: PromiseWithResolvers<void>;
}

interface Session {
  readonly waiting: InboxItem[];
  running?: Running | undefined;
  /** Its request for a place, and for which lane. */
  asked?: { readonly lane: string; readonly ticket: Ticket } | undefined;
  /** Nothing that is collected begins before: of a clock that only goes forward. */
  quietUntil: number;
  timer?: NodeJS.Timeout | undefined;
  /** Commands at work: what came after one begins after it. */
  held: number;
}

/** How much may wait, and how long what is collected does, by the config of the moment. */
export interface QueueBounds extends Room {
  readonly debounceMs: number;
}

export interface LanesAround {
  /** Settles at the turn's end, whatever came of it. */
  readonly take: (item: InboxItem, signal: AbortSignal, claim: Claim) => Promise<void>;
  readonly report: (error: unknown) => void;
  readonly limits: Readonly<Record<string, number>>;
  /** What the last process left behind, oldest first. */
  readonly left: readonly InboxItem[];
  readonly now?: () => number;
}

export type Lanes = ReturnType<typeof openLanes>;

/** One turn at a time per session, so many at once per lane. A lease: what runs and waits outlives reloads. */
export function openLanes({ take, report, limits, left, now = Date.now }: LanesAround) {
  const sessions = new Map<string, Session>();
  /** By each of its items. */
  const turns = new Map<string, Running>();
  const slots = openSlots(limits);
  const leftovers = [...left];
  let stopped = false;

  function sessionOf(key: string): Session {
    const session = sessions.get(key) ?? { waiting: [], quietUntil: 0, held: 0 };
    sessions.set(key, session);
    return session;
  }

  /** Asks for a place where there is something to begin. Called after each change of a session. */
  function next(key: string, session: Session) {
    clearTimeout(session.timer);
    const [head] = session.waiting;
    const lane = head && laneOf(head);
    if (session.asked && session.asked.lane !== lane) {
      session.asked.ticket.withdraw();
      session.asked = undefined;
    }
    if (session.running || session.asked || session.held > 0 || stopped) return;
    if (!head || lane === undefined) {
      sessions.delete(key);
      return;
    }
    const quietMs = head.mode === 'collect' ? session.quietUntil - performance.now() : 0;
    if (quietMs > 0) session.timer = setTimeout(() => next(key, session), quietMs);
    else ask(key, session, lane);
  }

  function ask(key: string, session: Session, lane: string) {
    let isGranted = false;
    const ticket = slots.ask(lane, () => {
      isGranted = true;
      session.asked = undefined;
      begin(key, session, lane);
    });
    if (!isGranted) session.asked = { lane, ticket };
  }

  function begin(key: string, session: Session, lane: string) {
    const item = asAnswered(session.waiting.shift() as InboxItem, session.waiting);
    const ended = Promise.withResolvers<void>();
    const running: Running = { items: [item], abort: new AbortController(), since: now(), lane, place: 'held', asides: 0, ended };
    session.running = running;
    turns.set(item.itemId, running);
    const free = () => {
      if (session.running !== running) return;
      for (const { itemId } of running.items) turns.delete(itemId);
      session.running = undefined;
      ended.resolve();
      const { place } = running;
      running.place = 'free';
      if (place === 'held') slots.release(running.lane);
      next(key, session);
    };
    take(item, running.abort.signal, claimOf(session, running, free))
      .catch(report)
      .finally(free);
  }

  function claimOf(session: Session, running: Running, free: () => void): Claim {
    const takeIn = (items: readonly InboxItem[]) => {
      running.items.push(...items);
      for (const { itemId } of items) turns.set(itemId, running);
      return items;
    };
    return {
      get items() {
        return running.items;
      },
      join: (when) => takeIn(session.waiting.splice(0, joiners(running.items[0] as InboxItem, session.waiting, when))),
      rejoin(itemIds) {
        const isIt = ({ itemId }: InboxItem) => itemIds.includes(itemId);
        takeIn(session.waiting.filter(isIt));
        for (let i = session.waiting.length - 1; i >= 0; i--) if (isIt(session.waiting[i] as InboxItem)) session.waiting.splice(i, 1);
      },
      part({ itemId }) {
        const at = running.items.findIndex((item) => item.itemId === itemId);
        if (at > 0) running.items.splice(at, 1);
        if (at > 0) turns.delete(itemId);
      },
      free,
    };
  }

  /** Puts a message in its place; what there is no room for is handed back. */
  function enqueue(item: InboxItem, bounds: QueueBounds): InboxItem | undefined {
    const key = item.sessionKey;
    const session = sessionOf(key);
    const isBusy = session.running !== undefined || session.waiting.length > 0;
    const refused = makeRoom(session.waiting, item, bounds);
    if (refused === item) return item;
    session.waiting.push(item);
    session.quietUntil = isBusy && session.waiting.length < bounds.cap ? performance.now() + bounds.debounceMs : 0;
    const turn = session.running?.items[0];
    if (turn && mayInterrupt(turn, item)) end(session.running, 'a newer message came instead');
    next(key, session);
    return refused;
  }

  const end = (running: Running | undefined, why: string): boolean => {
    running?.abort.abort(new DOMException(why, 'AbortError'));
    return running !== undefined;
  };

  /** The place is another's during `work`. A turn that is being ended does not wait for its return. */
  async function aside<T>(itemId: string, work: () => Promise<T>): Promise<T> {
    const running = turns.get(itemId);
    if (!running || running.place === 'free') return work();
    running.asides++;
    if (running.place === 'held') {
      running.place = 'aside';
      slots.release(running.lane);
    }
    try {
      return await work();
    } finally {
      if (--running.asides === 0) await regain(running);
    }
  }

  async function regain(running: Running): Promise<void> {
    const { signal } = running.abort;
    if (running.place !== 'aside' || signal.aborted) return;
    const back = Promise.withResolvers<void>();
    const grant = () => {
      if (running.place === 'aside' && running.asides === 0) running.place = 'held';
      else slots.release(running.lane); // it ended, or went aside again, while it stood in line
      back.resolve();
    };
    const leave = () => {
      ticket.withdraw();
      back.resolve();
    };
    const ticket = slots.ask(running.lane, grant, 'returning');
    signal.addEventListener('abort', leave, { once: true });
    await back.promise;
    signal.removeEventListener('abort', leave);
  }

  const activeItem = (item: InboxItem, running?: Running): ActiveItem => ({
    sessionKey: item.sessionKey,
    itemId: item.itemId,
    state: running ? 'running' : 'waiting',
    since: running?.since ?? item.enqueuedAt,
    lane: running?.lane ?? laneOf(item),
    mode: item.mode ?? 'followup',
  });

  return {
    enqueue,
    aside,
    limit: (changed: Readonly<Record<string, number>>) => slots.limit(changed),
    /** How many turns hold a place of this lane. */
    used: (lane: string) => slots.used(lane),
    /** Once live: the leftovers go first, all in their place before any begins, but for those that are `obeyed`. Later calls find none. */
    begin(obeyed: (item: InboxItem) => boolean, room: Room) {
      const isFirst = leftovers.length > 0;
      for (const item of leftovers.splice(0)) if (!obeyed(item)) sessionOf(item.sessionKey).waiting.push(item);
      if (isFirst) for (const { waiting } of sessions.values()) shortenLeftovers(waiting, room);
      for (const [key, session] of sessions) next(key, session);
    },
    /** Ends the turn and hands over what waits: whoever sweeps tells its senders. Nothing begins here before `release`, which counts once. */
    sweep(key: string): Swept {
      const session = sessionOf(key);
      session.held++;
      const { running } = session;
      const waiting = session.waiting.splice(0);
      end(running, 'stopped, with all that waits');
      next(key, session);
      let isReleased = false;
      const release = () => {
        if (isReleased) return;
        isReleased = true;
        session.held--;
        next(key, session);
      };
      return { isRunning: running !== undefined, waiting, ended: running?.ended.promise, release };
    },
    abort: (key: string, why: string): boolean => end(sessions.get(key)?.running, why),
    /** Takes an item out of its lane; `running` ones are told to end. */
    cancel(itemId: string, why: string): 'waiting' | 'running' | undefined {
      const running = turns.get(itemId);
      if (running) return running.items[0]?.itemId === itemId && end(running, why) ? 'running' : undefined;
      for (const [key, session] of sessions) {
        const at = session.waiting.findIndex((item) => item.itemId === itemId);
        if (at < 0) continue;
        session.waiting.splice(at, 1);
        next(key, session);
        return 'waiting';
      }
      return undefined;
    },
    active: (): readonly ActiveItem[] => [
      ...[...sessions.values()].flatMap(({ running, waiting }) => [
        ...(running?.items ?? []).map((item) => activeItem(item, running)),
        ...waiting.map((item) => activeItem(item)),
      ]),
      ...leftovers.map((item) => activeItem(item)),
    ],
    /** The gateway is ending: what waits stays in its rows for the next start. */
    retire() {
      stopped = true;
      slots.pause();
      for (const session of sessions.values()) clearTimeout(session.timer);
    },
    resume() {
      stopped = false;
      slots.resume();
      for (const [key, session] of sessions) next(key, session);
    },
    async [Symbol.asyncDispose]() {},
  };
}

export interface Swept {
  readonly isRunning: boolean;
  readonly waiting: readonly InboxItem[];
  /** Settles once the turn has its end in the store. */
  readonly ended?: Promise<void> | undefined;
  readonly release: () => void;
}

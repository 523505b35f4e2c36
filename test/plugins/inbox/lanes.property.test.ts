import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Claim, type InboxItem, queueModes } from '../../../plugins/inbox/contract.ts';
import { openLanes, type QueueBounds } from '../../../plugins/inbox/lanes.ts';

const sessions = ['a', 'b', 'c', 'd'];
/** By session, so that a lane has more than one. */
const kinds = { a: 'main', b: 'main', c: 'subagent', d: 'subagent' } as const;
const limits = { main: 2, subagent: 1 };

const anySession = fc.constantFrom(...sessions);
const pick = fc.nat(50);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('say'),
      session: anySession,
      mode: fc.constantFrom(...queueModes),
      sender: fc.constantFrom('owner', 'unknown'),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('end'), pick, how: fc.constantFrom('ends', 'breaks') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('join'), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('part'), pick }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('aside'), pick }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('back'), pick }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('free'), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sent'), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abort'), session: anySession }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel'), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sweep'), session: anySession }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('limit'), main: fc.integer({ min: 1, max: 3 }), subagent: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'retire' } as const) },
);
type Step = { readonly do: string } & Partial<{
  session: string;
  mode: InboxItem['mode'];
  sender: 'owner' | 'unknown';
  pick: number;
  how: string;
  main: number;
  subagent: number;
}>;

interface Turn {
  readonly claim: Claim;
  readonly signal: AbortSignal;
  readonly session: string;
  readonly settle: { resolve(): void; reject(why: Error): void };
}

/** Keeps the books from outside: what was handed in, where it is, and how each ended. */
function world(cap: number, drop: QueueBounds['drop']) {
  const all: InboxItem[] = [];
  const ends = new Map<string, string[]>();
  const taken: string[] = []; // in the order in which turns took them
  const turns: Turn[] = [];
  const sending: Turn[] = [];
  const asides: { readonly turn: Turn; back(): void }[] = [];
  const releases: (() => void)[] = [];
  let top = { ...limits };
  const ended = (id: string, how: string) => ends.set(id, [...(ends.get(id) ?? []), how]);

  const take = (item: InboxItem, signal: AbortSignal, claim: Claim) => {
    expect(
      turns.filter((turn) => turn.session === item.sessionKey),
      'one turn per session',
    ).toEqual([]);
    taken.push(item.itemId);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const turn: Turn = { claim, signal, session: item.sessionKey, settle: { resolve, reject } };
    turns.push(turn);
    return promise.finally(() => over(turn));
  };
  /** It has its end; once, also where its answer is on its way for longer. */
  const over = (turn: Turn) => {
    const at = turns.indexOf(turn);
    if (at < 0) return;
    turns.splice(at, 1);
    for (const one of turn.claim.items) ended(one.itemId, 'answered');
  };
  const lanes = openLanes({ take, report: () => {}, limits, left: [] });
  const settle = () => new Promise(setImmediate);
  const of = <T>(list: readonly T[], n = 0): T | undefined => (list.length ? list[n % list.length] : undefined);

  const steps: Record<string, (step: Step) => void> = {
    say({ session = 'a', mode, sender }) {
      const item = {
        itemId: `${all.length}`,
        sessionKey: session,
        agentId: 'm',
        route: 'r',
        content: '',
        enqueuedAt: 0,
        attempt: 1,
        provenance: { kind: 'external_user' },
        subject: { sender, session: kinds[session as 'a'] === 'main' ? 'direct' : 'subagent' },
        mode,
      } as InboxItem;
      all.push(item);
      const refused = lanes.enqueue(item, { cap, drop, debounceMs: 0 });
      if (refused) ended(refused.itemId, 'refused');
    },
    end({ pick: n, how }) {
      const turn = of(turns, n);
      if (how === 'breaks') turn?.settle.reject(new Error('broke'));
      else turn?.settle.resolve();
    },
    join({ pick: n = 0 }) {
      const turn = of(turns, n);
      if (turn) taken.push(...turn.claim.join(n % 2 ? 'start' : 'round').map(({ itemId }) => itemId));
    },
    part({ pick: n }) {
      const claim = of(turns, n)?.claim;
      const last = claim?.items.at(-1);
      if (!claim || !last || claim.items.length < 2) return;
      claim.part(last);
      ended(last.itemId, 'refused');
    },
    aside({ pick: n }) {
      const turn = of(turns, n);
      const first = turn?.claim.items[0];
      if (!turn || !first || asides.some((one) => one.turn === turn)) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      asides.push({ turn, back: resolve });
      void lanes.aside(first.itemId, () => promise);
    },
    back({ pick: n }) {
      const one = of(asides, n);
      if (one) asides.splice(asides.indexOf(one), 1);
      one?.back();
    },
    free({ pick: n }) {
      const turn = of(turns, n);
      if (!turn) return;
      over(turn);
      sending.push(turn);
      turn.claim.free();
    },
    sent({ pick: n }) {
      const turn = of(sending, n);
      if (turn) sending.splice(sending.indexOf(turn), 1);
      turn?.settle.resolve();
    },
    abort: ({ session = '' }) => void lanes.abort(session, 'no'),
    cancel({ pick: n }) {
      const item = of(all, n);
      if (item && lanes.cancel(item.itemId, 'no') === 'waiting') ended(item.itemId, 'cancelled');
    },
    sweep({ session = '' }) {
      const swept = lanes.sweep(session);
      for (const item of swept.waiting) ended(item.itemId, 'stopped');
      releases.push(swept.release);
    },
    limit({ main = 1, subagent = 1 }) {
      top = { main: Math.max(top.main, main), subagent: Math.max(top.subagent, subagent) };
      lanes.limit({ main, subagent });
    },
    retire() {
      lanes.retire();
      lanes.resume();
    },
  };

  function check() {
    for (const lane of ['main', 'subagent'] as const) expect(lanes.used(lane), `places of ${lane}`).toBeLessThanOrEqual(top[lane]);
    const known = lanes.active().map(({ itemId }) => itemId);
    expect(new Set(known).size, 'an item is in one place').toBe(known.length);
    const open = all.filter(({ itemId }) => !ends.has(itemId)).map(({ itemId }) => itemId);
    expect(known.toSorted(), 'what has no end is running or waiting').toEqual(open.toSorted());
  }

  return { lanes, all, ends, taken, turns, asides, releases, steps, settle, check };
}

test('SPEC 6.3: whatever comes, ends, stops and in which order: each message ends exactly once, in the order of its session', {
  timeout: 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom('new' as const, 'old' as const, 'summarize' as const),
      async (steps, cap, drop) => {
        const w = world(cap, drop);
        for (const one of steps as readonly Step[]) {
          w.steps[one.do]?.(one);
          await w.settle();
          w.check();
        }
        for (const release of w.releases) release();
        for (const one of w.asides) one.back();
        for (let left = w.all.length + 1; left > 0 && w.lanes.active().length > 0; left--) {
          await w.settle();
          for (const turn of w.turns) turn.settle.resolve();
          await w.settle();
        }
        w.check();
        expect(w.lanes.active(), 'nothing is stuck').toEqual([]);
        for (const { itemId } of w.all) expect(w.ends.get(itemId), `item ${itemId}`).toHaveLength(1);
        for (const key of sessions) {
          const order = w.taken.map(Number).filter((id) => w.all[id]?.sessionKey === key);
          expect(order, `order of ${key}`).toEqual(order.toSorted((a, b) => a - b));
        }
        expect([w.lanes.used('main'), w.lanes.used('subagent')]).toEqual([0, 0]);
      },
    ),
    { numRuns: 300 },
  );
});

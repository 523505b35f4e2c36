import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Ledger, openLedger, type Over, type Wanted } from '../../../plugins/budget/ledger.ts';
import { type Limit, scopes } from '../../../plugins/budget/limits.ts';
import { readSpent, type Reserved, tables } from '../../../plugins/budget/rows.ts';
import { openStore } from '../../../plugins/store/sqlite.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const day = scopes.day('2026-11-30');
const session = scopes.session('agent:main:s');
const price = { input: 1, output: 2, cacheRead: 1, cacheWrite: 1 };

/** The same rows for one boot after the other. */
async function place(clock = { now: 1000 }) {
  const file = join(tmpdir(), `instar-budget-${crypto.randomUUID()}.db`);
  const store = openStore(file, log);
  await store.migrate('budget', tables);
  let boots = 0;
  return {
    store,
    clock,
    boot: () => openLedger({ store, boot: `boot-${++boots}`, now: () => clock.now, newId: () => crypto.randomUUID() }),
    spent: (scope = day) => store.tx((t) => readSpent(t, scope.id)),
    sums: () =>
      store.tx(async (t) => ({
        ledger: await t.get<{ n: number; m: number }>('SELECT coalesce(sum(tokens), 0) n, coalesce(sum(nanos), 0) m FROM budget_ledger'),
        open: await t.get<{ n: number }>('SELECT coalesce(sum(tokens), 0) n FROM budget_reserved'),
      })),
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      for (const end of ['', '-wal', '-shm']) await rm(file + end, { force: true });
    },
  };
}

const wanted = (input: number, output: number, more: Partial<Wanted> = {}): Wanted => ({
  scopes: [day, session],
  facts: { day: '2026-11-30', agent: 'main', session: 'agent:main:s', root: 'r', model: 'a/1' },
  input,
  output,
  price,
  part: () => 1,
  ...more,
});
const limit = (tokens: number, scope = day): Limit => ({ scope, tokens, path: 'budget.day', onLimit: 'refuse' });
const isReserved = (found: Reserved | Over): found is Reserved => 'id' in found;
const settle = (at: { store: { tx: ReturnType<typeof openStore>['tx'] } }, ledger: Ledger, reserved: Reserved, tokens: number) =>
  at.store.tx(ledger.settle(reserved, { tokens, nanos: tokens * 1000, unpriced: 0 }, 'settled'));

test('SPEC 7.10: in whatever order requests come, end or die, a limit is never passed by more than the estimates were wrong, and the sums agree', async () => {
  const act = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('reserve' as const), input: fc.nat(400), output: fc.integer({ min: 1, max: 900 }) }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('settle' as const), at: fc.nat(5), part: fc.integer({ min: 0, max: 120 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('burst' as const), input: fc.nat(400) }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 25 }), async (acts) => {
      await using p = await place();
      const most = 2000;
      let ledger = p.boot();
      let open: Reserved[] = [];
      let error = 0;
      const take = (found: Reserved | Over) => {
        if (isReserved(found)) open.push(found);
        else expect(found.spent + found.held + found.needed).toBeGreaterThan(most); // refused only where it does not fit
      };
      for (const one of acts) {
        if (one.do === 'reserve') take(await ledger.reserve(wanted(one.input, one.output), [limit(most)]));
        if (one.do === 'burst')
          (await Promise.all([1, 2, 3].map(() => ledger.reserve(wanted(one.input, 600), [limit(most)])))).forEach(take);
        if (one.do === 'settle') {
          const [reserved] = open.splice(one.at, 1);
          if (!reserved) continue;
          const real = Math.round((reserved.tokens * one.part) / 100);
          error += Math.max(0, real - reserved.tokens);
          await settle(p, ledger, reserved, real);
        }
        if (one.do === 'crash') {
          ledger = p.boot();
          const [before, held] = [(await p.spent())?.tokens ?? 0, open.reduce((sum, { tokens }) => sum + tokens, 0)];
          expect(await ledger.recover()).toBe(open.length);
          expect((await p.spent())?.tokens ?? 0).toBe(before + held);
          open = [];
        }
        const [row, sums] = [await p.spent(), await p.sums()];
        expect((row?.tokens ?? 0) + (row?.held_tokens ?? 0)).toBeLessThanOrEqual(most + error);
        expect([row?.tokens ?? 0, row?.nanos ?? 0, row?.held_tokens ?? 0]).toEqual([sums.ledger?.n, sums.ledger?.m, sums.open?.n]);
        expect(sums.open?.n).toBe(open.reduce((sum, { tokens }) => sum + tokens, 0));
      }
    }),
    { numRuns: 20 },
  );
}, 60_000);

test('what is left of a limit is what an answer may take, and where not even a short one fits the request is refused', async () => {
  await using p = await place();
  const ledger = p.boot();
  const first = await ledger.reserve(wanted(100, 8192), [limit(1000)]);
  expect(first).toMatchObject({ tokens: 1000 });
  expect(await ledger.reserve(wanted(100, 8192), [limit(1000)])).toMatchObject({ unit: 'tokens', spent: 0, held: 1000, needed: 356 });
  await settle(p, ledger, first as Reserved, 300);
  expect(await ledger.reserve(wanted(100, 8192), [limit(1000)])).toMatchObject({ tokens: 700 });
});

test('money is reserved at the dearer price of input, and a model that costs nothing passes where money is used up', async () => {
  await using p = await place();
  const ledger = p.boot();
  const usd: Limit = { scope: day, usd: 0.001, path: 'budget.day', onLimit: 'refuse' };
  // 100 tokens at 4 and 300 at 2 dollars a million fill a thousandth of a dollar.
  expect(await ledger.reserve(wanted(100, 9000, { price: { ...price, cacheWrite: 4 } }), [usd])).toMatchObject({
    tokens: 400,
    nanos: 1_000_000,
  });
  expect(await ledger.reserve(wanted(100, 9000), [usd])).toMatchObject({ unit: 'usd', held: 1_000_000, needed: 612_000 });
  const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  expect(await ledger.reserve(wanted(100, 500, { price: free }), [usd])).toMatchObject({ nanos: 0, isPriced: true });
  expect(await ledger.reserve(wanted(100, 500, { price: undefined }), [usd])).toMatchObject({ nanos: 0, isPriced: false });
});

test('a request that was given up is charged as reserved, and put right if its end is told after all', async () => {
  await using p = await place();
  const ledger = p.boot();
  const reserved = (await ledger.reserve(wanted(100, 400), [])) as Reserved;
  p.clock.now += 3 * 3_600_000;
  await ledger.reserve(wanted(1, 1), []);
  expect(await p.spent()).toMatchObject({ tokens: 500, held_tokens: 2, requests: 1 });
  await settle(p, ledger, reserved, 120);
  expect(await p.spent()).toMatchObject({ tokens: 120, nanos: 120_000, requests: 1 });
});

test('old requests become sums per day, and an agent’s own sum stays', async () => {
  await using p = await place();
  const ledger = p.boot();
  const agent = scopes.agent('main');
  const reserve = async () => (await ledger.reserve(wanted(10, 10, { scopes: [day, agent] }), [])) as Reserved;
  await settle(p, ledger, await reserve(), 7);
  await settle(p, ledger, await reserve(), 8);
  p.clock.now = 50_000;
  await settle(p, ledger, await reserve(), 100);
  const rows = () => p.store.tx((t) => t.all('SELECT tokens FROM budget_ledger'));
  p.clock.now = 90_000;
  await ledger.prune(20_000);
  await ledger.prune(20_000);
  expect([await rows(), await p.store.tx((t) => t.all('SELECT day, agent, model, requests, tokens FROM budget_days'))]).toEqual([
    [{ tokens: 100 }],
    [{ day: '2026-11-30', agent: 'main', model: 'a/1', requests: 2, tokens: 15 }],
  ]);
  await ledger.prune(80_000);
  expect([await p.spent(), (await p.spent(agent))?.tokens]).toEqual([undefined, 115]);
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { definePlugin } from '../../../kernel/index.ts';
import { type Arrival, Inbox, type InboxItem } from '../../../plugins/inbox/contract.ts';
import inbox from '../../../plugins/inbox/index.ts';
import { Store } from '../../../plugins/store/contract.ts';
import store from '../../../plugins/store/index.ts';
import { Turns } from '../../../plugins/turns/contract.ts';
import { bootTest } from '../../support/kernel.ts';

interface Begun {
  readonly item: InboxItem;
  readonly signal: AbortSignal;
  end(how?: 'done' | 'refused'): void;
}

const arrival = (content: string, facts: Partial<Arrival> = {}): Arrival => ({
  sessionKey: 'agent:main:s',
  agentId: 'main',
  content,
  route: 'test:x',
  provenance: { kind: 'external_user' },
  subject: {},
  ...facts,
});

/** Store and inbox with turns that end when told to, on a state folder that outlives them. */
async function place() {
  const home = await mkdtemp(join(tmpdir(), 'instar-inbox-'));
  const begun: Begun[] = [];
  const turns = definePlugin({
    name: 'turns',
    description: 'test',
    provides: [Turns],
    setup: (ctx) =>
      ctx.provide(Turns, {
        async take(item, run) {
          const { promise, resolve } = Promise.withResolvers<'done' | 'refused'>();
          begun.push({ item, signal: run.signal, end: (how = 'done') => resolve(how) });
          const how = await promise;
          await run.get(Store).tx((t) => run.get(Inbox).finish(t, item.itemId, how, run.id));
        },
        end: () => Promise.reject(new Error('not here')),
      }),
  });
  const boot = async () => {
    const t = await bootTest([store, inbox, turns], {}, { home });
    const ask = <T>(work: (inbox: Inbox) => T | Promise<T>) => t.kernel.run((run) => work(run.get(Inbox)));
    return {
      t,
      ask,
      [Symbol.asyncDispose]: () => t[Symbol.asyncDispose](),
      enqueue: (content: string, facts: Partial<Arrival> = {}) => ask((one) => one.enqueue(arrival(content, facts))),
      rows: (columns = 'state, attempt') =>
        t.kernel.run((run) =>
          run.get(Store).tx((open) => open.all<Record<string, unknown>>(`SELECT ${columns} FROM inbox ORDER BY rowid`)),
        ),
      sql: (text: string) => t.kernel.run((run) => run.get(Store).tx((open) => open.run(text))),
    };
  };
  const said = () => begun.map(({ item }) => item.content);
  return { boot, begun, said, [Symbol.asyncDispose]: () => rm(home, { recursive: true }) };
}

test('one idempotency key, sent many times at once, is one item', async () => {
  await using p = await place();
  await using now = await p.boot();
  const receipts = await Promise.all(Array.from({ length: 20 }, () => now.enqueue('once', { idempotencyKey: 'k' })));
  expect(new Set(receipts.map(({ itemId }) => itemId)).size).toBe(1);
  expect(receipts.filter(({ known }) => !known)).toHaveLength(1);
  expect(p.said()).toEqual(['once']);
  p.begun[0]?.end();
});

test.each<[string, string, Partial<Arrival>]>([
  ['another message', 'other', {}],
  ['another session', 'said', { sessionKey: 'agent:main:t' }],
  ['another agent', 'said', { agentId: 'ops' }],
  ['another model', 'said', { model: 'p/m' }],
  ['another history', 'said', { history: [{ role: 'user', content: 'before', timestamp: 1 }] }],
])('an idempotency key that comes again with %s is refused, also once its item has its end', async (_, content, facts) => {
  await using p = await place();
  await using now = await p.boot();
  const { itemId } = await now.enqueue('said', { idempotencyKey: 'k' });
  const again = () => now.enqueue(content, { idempotencyKey: 'k', ...facts });
  await expect(again()).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_USED', status: 422 });
  p.begun[0]?.end();
  await expect.poll(() => now.rows(), { interval: 5 }).toMatchObject([{ state: 'done' }]);
  await expect(again()).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_USED' });
  expect(await now.enqueue('said', { idempotencyKey: 'k' })).toEqual({ itemId, known: true, state: 'done' });
});

test('a key of a stateless client names its request, whatever the session of each is called and whenever it was said', async () => {
  await using p = await place();
  await using now = await p.boot();
  const ask = (n: number) => {
    const history = [{ role: 'user', content: 'before', timestamp: n } as const];
    return now.enqueue('said', { idempotencyKey: 'k', sessionKey: `agent:main:http:${n}`, ephemeral: true, history });
  };
  const { itemId } = await ask(1);
  expect(await ask(2)).toMatchObject({ itemId, known: true });
  p.begun[0]?.end();
});

test('an item that was refused gives its key free: the same message may be sent again', async () => {
  await using p = await place();
  await using now = await p.boot();
  const { itemId } = await now.enqueue('said', { idempotencyKey: 'k' });
  p.begun[0]?.end('refused');
  await expect.poll(() => now.rows(), { interval: 5 }).toMatchObject([{ state: 'refused' }]);
  const again = await now.enqueue('said', { idempotencyKey: 'k' });
  expect(again).toMatchObject({ known: false });
  expect(again.itemId).not.toBe(itemId);
  await expect.poll(() => p.begun.length, { interval: 5 }).toBe(2);
  p.begun[1]?.end();
});

test('what waited when the process ended goes on in the order in which it came, also where the clock was set back meanwhile', async () => {
  await using p = await place();
  const before = await p.boot();
  for (const content of ['1', '2', '3', '4']) await before.enqueue(content);
  for (const [i, content] of ['3', '4'].entries())
    await before.sql(`UPDATE inbox SET enqueued_at = ${i} WHERE json_extract(arrival, '$.content') = '${content}'`);
  const drained = before.t[Symbol.asyncDispose]();
  p.begun[0]?.end();
  await drained;
  await using now = await p.boot();
  for (const next of [2, 3, 4]) {
    await expect.poll(() => p.begun.length, { interval: 5 }).toBe(next);
    p.begun.at(-1)?.end();
  }
  await expect.poll(() => now.ask((one) => one.active()), { interval: 5 }).toEqual([]);
  expect(p.said()).toEqual(['1', '2', '3', '4']);
});

test('a drain lets running turns end and leaves what waits, in its order, to the next start', async () => {
  await using p = await place();
  const before = await p.boot();
  for (const content of ['runs', 'waits', 'waits too']) await before.enqueue(content);
  const drained = before.t[Symbol.asyncDispose]();
  p.begun[0]?.end();
  await drained;
  expect(p.said()).toEqual(['runs']);

  await using now = await p.boot();
  await expect.poll(() => p.begun.length, { interval: 5 }).toBe(2);
  await now.enqueue('new');
  for (const next of [2, 3, 4]) {
    await expect.poll(() => p.begun.length, { interval: 5 }).toBe(next);
    p.begun.at(-1)?.end();
  }
  await expect
    .poll(() => now.rows(), { interval: 5 })
    .toMatchObject([{ state: 'done' }, { state: 'done' }, { state: 'done' }, { state: 'done' }]);
  expect(p.said()).toEqual(['runs', 'waits', 'waits too', 'new']);
});

test('reloads in mid-turn keep the lane: what runs can be stopped, what waits begins after it', async () => {
  await using p = await place();
  await using now = await p.boot();
  await now.enqueue('runs');
  await now.enqueue('waits');
  await now.t.reload('inbox');
  await now.t.reload();
  expect(p.said()).toEqual(['runs']);
  expect(await now.ask((one) => one.active().map(({ state }) => state))).toEqual(['running', 'waiting']);
  expect(await now.ask((one) => one.abort('agent:main:s', 'stop'))).toBe(true);
  expect(p.begun[0]?.signal.aborted).toBe(true);
  p.begun[0]?.end();
  await expect.poll(() => p.said(), { interval: 5 }).toEqual(['runs', 'waits']);
  p.begun[1]?.end();
});

test('what is cancelled is told so once: waiting it never begins, running its signal ends, unknown or ended it is nothing', async () => {
  await using p = await place();
  await using now = await p.boot();
  const [runs, waits, last] = await Promise.all(['runs', 'waits', 'last'].map((content) => now.enqueue(content)));
  const cancel = ({ itemId } = { itemId: 'nobody' }) => now.ask((one) => one.cancel(itemId, 'no'));
  expect([await cancel(waits), await cancel(waits), await cancel(), await cancel(runs)]).toEqual([true, false, false, true]);
  expect(p.begun[0]?.signal.aborted).toBe(true);
  p.begun[0]?.end();
  await expect.poll(() => p.said(), { interval: 5 }).toEqual(['runs', 'last']);
  expect(await cancel(runs)).toBe(false);
  p.begun[1]?.end();
  await expect.poll(() => now.rows('state'), { interval: 5 }).toMatchObject([{ state: 'done' }, { state: 'cancelled' }, { state: 'done' }]);
  expect(await cancel(last)).toBe(false);
});

test('a message that the disk has no room for is refused, and not begun', async () => {
  await using p = await place();
  await using now = await p.boot();
  await now.sql('PRAGMA max_page_count = 1'); // stands for a full disk
  await expect(now.enqueue('x'.repeat(100_000))).rejects.toMatchObject({ code: 'STORE_UNUSABLE' });
  expect([p.said(), await now.rows()]).toEqual([[], []]);
});

test('an ended item keeps only its key, for a week; what is open stays', async () => {
  await using p = await place();
  const day = 86_400_000;
  {
    await using before = await p.boot();
    for (const content of ['old', 'young']) {
      await before.enqueue(content, { idempotencyKey: content });
      await expect.poll(() => p.said().at(-1), { interval: 5 }).toBe(content);
      p.begun.at(-1)?.end();
    }
    await expect
      .poll(() => before.rows('state, arrival'), { interval: 5 })
      .toMatchObject([
        { state: 'done', arrival: '{}' },
        { state: 'done', arrival: '{}' },
      ]);
    for (const [key, days] of [
      ['old', 8],
      ['young', 6],
    ] as const)
      await before.sql(`UPDATE inbox SET finished_at = ${Date.now() - days * day} WHERE idempotency_key = '${key}'`);
  }
  await using now = await p.boot();
  await expect.poll(() => now.rows('idempotency_key'), { interval: 5 }).toMatchObject([{ idempotency_key: 'young' }]);
  expect(await now.enqueue('young', { idempotencyKey: 'young' })).toMatchObject({ known: true, state: 'done' });
  expect(await now.enqueue('again', { idempotencyKey: 'old' })).toMatchObject({ known: false });
  await expect.poll(() => p.said().at(-1), { interval: 5 }).toBe('again');
  p.begun.at(-1)?.end();
});

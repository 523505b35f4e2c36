import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { definePlugin } from '../../../kernel/index.ts';
import { type Delivery, Outbox, SendDelivery, type SendResult } from '../../../plugins/outbox/contract.ts';
import outbox from '../../../plugins/outbox/index.ts';
import { Store } from '../../../plugins/store/contract.ts';
import store from '../../../plugins/store/index.ts';
import { bootTest } from '../../support/kernel.ts';

// What failed is tried again when the test says that time passes.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

type Answer = (delivery: Delivery) => SendResult | Promise<SendResult>;
const delivered: SendResult = { kind: 'delivered' };

/** Store, outbox and a channel that answers as it is told, on a state folder that outlives them. */
async function place() {
  const home = await mkdtemp(join(tmpdir(), 'instar-outbox-'));
  const seen: string[] = [];
  let answer: Answer = () => delivered;
  const channel = definePlugin({
    name: 'channel',
    description: 'test',
    setup: (ctx) =>
      ctx.tap(SendDelivery, (delivery) => {
        if (!delivery.route.startsWith('test:')) return undefined;
        seen.push(delivery.itemId);
        return answer(delivery);
      }),
  });
  const boot = async () => {
    const t = await bootTest([store, outbox, channel], {}, { home });
    return {
      t,
      [Symbol.asyncDispose]: () => t[Symbol.asyncDispose](),
      put: (itemId: string, route = `test:${itemId}`) =>
        t.kernel.run((run) =>
          run
            .get(Store)
            .tx((open) => run.get(Outbox).put(open, { route, sessionKey: 's', itemId, payloads: [{ text: itemId }], meta: {} })),
        ),
      deliver: (delivery: Delivery) => t.kernel.run((run) => run.get(Outbox).deliver(run, delivery)),
      rows: (columns = 'item_id, state, attempt') =>
        t.kernel.run((run) =>
          run.get(Store).tx((open) => open.all<Record<string, unknown>>(`SELECT ${columns} FROM outbox ORDER BY rowid`)),
        ),
      sql: (text: string) => t.kernel.run((run) => run.get(Store).tx((open) => open.run(text))),
    };
  };
  return {
    boot,
    seen,
    say: (next: Answer) => (answer = next),
    [Symbol.asyncDispose]: () => rm(home, { recursive: true }),
  };
}

test('a delivery that fails is tried again, also where the plugin is reloaded in between', async () => {
  await using p = await place();
  await using now = await p.boot();
  p.say(({ attempt }) => (attempt === 0 ? { kind: 'retry', why: 'the line is down' } : delivered));
  expect(await now.deliver(await now.put('a'))).toMatchObject({ kind: 'retry' });
  expect(await now.rows('state, why, attempt')).toMatchObject([{ state: 'waiting', why: 'the line is down', attempt: 1 }]);
  await now.t.reload('outbox');
  await now.t.reload();
  const later = async () => (await vi.advanceTimersByTimeAsync(60_000), now.rows());
  await expect.poll(later, { interval: 5, timeout: 10_000 }).toMatchObject([{ state: 'delivered', attempt: 2 }]);
  expect(p.seen).toEqual(['a', 'a']);
});

test('what waited when the process ended goes at the next start, once, in order per route; a stuck route holds up no other', async () => {
  await using p = await place();
  {
    await using before = await p.boot();
    p.say(() => ({ kind: 'retry', why: 'down' }));
    for (const [itemId, route] of [
      ['stuck', 'test:x'],
      ['a', 'test:y'],
      ['b', 'test:y'],
    ] as const)
      await before.deliver(await before.put(itemId, route));
  }
  p.seen.length = 0;
  const stuck = Promise.withResolvers<SendResult>();
  p.say(({ itemId }) => (itemId === 'stuck' ? stuck.promise : delivered));
  await using now = await p.boot();
  await expect
    .poll(() => now.rows(), { interval: 5 })
    .toMatchObject([{ state: 'waiting' }, { state: 'delivered' }, { state: 'delivered' }]);
  await now.t.reload('outbox');
  stuck.resolve(delivered);
  await expect.poll(() => now.rows(), { interval: 5 }).toMatchObject([{ state: 'delivered', attempt: 2 }, { attempt: 2 }, { attempt: 1 }]);
  expect(p.seen).toEqual(['stuck', 'a', 'b']);
});

test.each<[string, string, Answer, string]>([
  ['nobody waits for it any more', 'test:a', () => ({ kind: 'gone', why: 'left' }), 'expired'],
  ['it is the answer of a request, and no plugin has that open', 'http:a', () => delivered, 'expired'],
  ['the channel will never take it', 'test:a', () => ({ kind: 'failed', why: 'blocked' }), 'dead'],
  ['the channel breaks', 'test:a', () => Promise.reject(new Error('broke')), 'waiting'],
  ['no plugin sends there for now', 'gone:a', () => delivered, 'waiting'],
])('how a delivery ends where %s', async (_, route, answer, state) => {
  await using p = await place();
  await using now = await p.boot();
  p.say(answer);
  await now.deliver(await now.put('a', route));
  expect(await now.rows()).toMatchObject([{ state, attempt: 1 }]);
});

test('after the last attempt a row is dead, with its reason', async () => {
  await using p = await place();
  await using now = await p.boot();
  p.say(() => ({ kind: 'retry', why: 'down' }));
  const delivery = await now.put('a');
  expect(await now.deliver({ ...delivery, attempt: 5 })).toEqual({ kind: 'failed', why: 'down' });
  expect(await now.rows('state, why')).toMatchObject([{ state: 'dead', why: 'down' }]);
});

test('a sent answer whose row cannot be written for now is not sent again', async () => {
  vi.useRealTimers();
  await using p = await place();
  await using now = await p.boot();
  const delivery = await now.put('a');
  using other = new DatabaseSync(join(now.t.home, 'state.db'));
  await now.sql('PRAGMA busy_timeout = 1');
  p.say(() => {
    other.exec('BEGIN IMMEDIATE'); // somebody else writes
    return delivered;
  });
  const sending = now.deliver(delivery);
  await expect.poll(() => now.t.records.filter(({ message }) => message.includes('tried again')).length, { interval: 5 }).toBe(1);
  other.exec('COMMIT');
  expect(await sending).toEqual(delivered);
  expect(await now.rows()).toMatchObject([{ state: 'delivered' }]);
  expect(p.seen).toEqual(['a']);
});

test('answers are kept for a week after their end; what still waits stays', async () => {
  await using p = await place();
  const day = 86_400_000;
  {
    await using before = await p.boot();
    for (const itemId of ['old', 'young', 'waiting']) await before.put(itemId);
    for (const [itemId, state, days] of [
      ['old', 'dead', 8],
      ['young', 'delivered', 6],
    ] as const)
      await before.sql(`UPDATE outbox SET state = '${state}', settled_at = ${Date.now() - days * day} WHERE item_id = '${itemId}'`);
    await before.sql(`UPDATE outbox SET created_at = 0`);
  }
  p.say(() => ({ kind: 'retry', why: 'down' }));
  await using now = await p.boot();
  await expect.poll(() => now.rows('item_id'), { interval: 5 }).toMatchObject([{ item_id: 'young' }, { item_id: 'waiting' }]);
});

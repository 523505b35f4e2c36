import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { definePlugin } from '../../../kernel/index.ts';
import { Methods, type Client } from '../../../plugins/gateway/contract.ts';
import { type Delivery, Outbox, SendDelivery, type SendResult } from '../../../plugins/outbox/contract.ts';
import outbox from '../../../plugins/outbox/index.ts';
import { Store } from '../../../plugins/store/contract.ts';
import store from '../../../plugins/store/index.ts';
import { bootTest } from '../../support/kernel.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

type Answer = (itemId: string, tries: number) => SendResult | Promise<SendResult>;
const delivered: SendResult = { kind: 'delivered' };
const down: SendResult = { kind: 'retry', why: 'down' };

/** A channel that answers each row as it is told, by the row and how often it was sent. */
async function place(answer: Answer) {
  const sent: string[] = [];
  const send = ({ itemId }: Delivery) => answer(itemId, sent.push(itemId) && sent.filter((one) => one === itemId).length);
  const channel = definePlugin({ name: 'channel', description: '', setup: (ctx) => ctx.tap(SendDelivery, send) });
  const t = await bootTest([store, outbox, channel]);
  const put = (itemId: string, route = 'test:x') =>
    t.kernel.run((run) =>
      run.get(Store).tx((open) => run.get(Outbox).put(open, { route, sessionKey: 's', itemId, payloads: [], meta: {} })),
    );
  const deliver = (delivery: Delivery) => t.kernel.run((run) => run.get(Outbox).deliver(run, delivery));
  const states = () =>
    t.kernel.run((run) =>
      run
        .get(Store)
        .tx(async (open) => (await open.all('SELECT state, attempt FROM outbox ORDER BY rowid')).map((row) => Object.values(row))),
    );
  const call = (method: string, params: object) =>
    t.kernel.run(async (run) => (await run.call(Methods, {}))[method]?.(params as never, {} as Client, run));
  return { t, sent, put, deliver, states, call, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() };
}

test('answers of one route go out in their order, also where one of them must be tried again; other routes go on', async () => {
  await using p = await place((itemId, tries) => (itemId === '1' && tries < 3 ? down : delivered));
  for (const itemId of ['1', '2', '3']) await p.deliver(await p.put(itemId));
  await p.deliver(await p.put('other', 'test:y'));
  expect(p.sent).toEqual(['1', 'other']);
  await vi.advanceTimersByTimeAsync(1_000);
  await expect.poll(p.states, { interval: 5 }).toMatchObject([
    ['waiting', 2],
    ['waiting', 0],
    ['waiting', 0],
    ['delivered', 1],
  ]);
  await vi.advanceTimersByTimeAsync(5_000);
  await expect.poll(p.states, { interval: 5 }).toEqual([
    ['delivered', 3],
    ['delivered', 1],
    ['delivered', 1],
    ['delivered', 1],
  ]);
  expect(p.sent).toEqual(['1', 'other', '1', '1', '2', '3']);
});

test('a dead letter, and one that is dropped by hand, let go what waits behind them', async () => {
  await using p = await place((itemId) => (itemId === '1' ? { kind: 'failed', why: 'gone' } : itemId === '2' ? down : delivered));
  for (const itemId of ['1', '2', '3', '4']) await p.deliver(await p.put(itemId));
  expect(p.sent).toEqual(['1', '2']);
  const { rows } = (await p.call('outbox.list', { states: ['waiting'] })) as { rows: { id: string; itemId: string }[] };
  for (const dropped of ['3', '2']) await p.call('outbox.drop', { id: rows.find(({ itemId }) => itemId === dropped)?.id });
  await expect.poll(p.states, { interval: 5 }).toEqual([
    ['dead', 1],
    ['dropped', 1],
    ['dropped', 0],
    ['delivered', 1],
  ]);
  expect(p.sent).toEqual(['1', '2', '4']);
});

test('whoever is told to send one now sends the first of its line, is told so, and uses up none of its attempts', async () => {
  let isUp = false;
  await using p = await place(() => (isUp ? delivered : down));
  const [first, second] = [await p.put('1'), await p.put('2')];
  for (const one of [first, second]) await p.deliver(one);
  const retry = () => p.call('outbox.retry', { id: second.id }); // refused while one is being sent
  for (let tries = 2; tries < 9; tries++) {
    await expect.poll(retry, { interval: 5 }).toEqual({ retried: [first.id] });
    await expect.poll(() => p.sent.length, { interval: 5 }).toBe(tries);
  }
  isUp = true;
  await expect.poll(retry, { interval: 5 }).toEqual({ retried: [first.id] });
  await expect.poll(p.states, { interval: 5 }).toEqual([
    ['delivered', 1],
    ['delivered', 1],
  ]);
});

/** A channel whose first sends to `slow` settle when the test says so. */
async function slow(rest: SendResult = delivered) {
  const sends: PromiseWithResolvers<SendResult>[] = [];
  const p = await place((itemId) => {
    if (itemId !== 'slow') return delivered;
    sends.push(Promise.withResolvers());
    return sends.length < 3 ? (sends.at(-1) as PromiseWithResolvers<SendResult>).promise : rest;
  });
  const sending = p.deliver(await p.put('slow'));
  await expect.poll(() => p.sent, { interval: 5 }).toEqual(['slow']);
  await p.deliver(await p.put('next'));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await sending).toEqual({ kind: 'retry', why: 'nothing has been heard of it for 60 s' }); // who delivers goes on
  await expect.poll(p.states, { interval: 5 }).toEqual([
    ['waiting', 1],
    ['waiting', 0],
  ]);
  return { p, settle: (send: number, result: SendResult) => sends[send]?.resolve(result), [Symbol.asyncDispose]: p[Symbol.asyncDispose] };
}

test('a channel that is slow gets each answer once, and what comes after it waits', async () => {
  await using s = await slow();
  await vi.advanceTimersByTimeAsync(500_000);
  expect(s.p.sent).toEqual(['slow']);
  s.settle(0, delivered);
  await expect.poll(s.p.states, { interval: 5 }).toEqual([
    ['delivered', 1],
    ['delivered', 1],
  ]);
  expect(s.p.sent).toEqual(['slow', 'next']);
});

test('a channel that says nothing for ten minutes is asked again; that the first attempt got through still counts', async () => {
  await using s = await slow();
  const listed = async () => (await vi.advanceTimersByTimeAsync(200), s.p.call('outbox.list', {}));
  await vi.advanceTimersByTimeAsync(539_000);
  await expect.poll(listed, { interval: 5 }).toMatchObject({ rows: [{}, { why: 'nothing has been heard of it for 600 s' }] });
  s.settle(0, delivered);
  await expect.poll(s.p.states, { interval: 5 }).toEqual([
    ['delivered', 1],
    ['delivered', 1],
  ]);
  await vi.advanceTimersByTimeAsync(1_000_000);
  expect(s.p.sent).toEqual(['slow', 'next']);
});

test('the second attempt follows, and may end it', async () => {
  await using s = await slow();
  await vi.advanceTimersByTimeAsync(540_000);
  const again = async () => (await vi.advanceTimersByTimeAsync(1_000), s.p.sent);
  await expect.poll(again, { interval: 5 }).toEqual(['slow', 'slow']);
  s.settle(1, { kind: 'failed', why: 'blocked' });
  await expect.poll(s.p.states, { interval: 5 }).toEqual([
    ['dead', 2],
    ['delivered', 1],
  ]);
  s.settle(0, delivered);
  await expect.poll(s.p.states, { interval: 5 }).toEqual([
    ['delivered', 1],
    ['delivered', 1],
  ]);
});

import { expect, test } from 'vitest';
import { definePlugin } from '../../../kernel/index.ts';
import { type Client, Methods } from '../../../plugins/gateway/contract.ts';
import { Outbox, type OutboxRow, SendDelivery, type SendResult } from '../../../plugins/outbox/contract.ts';
import outbox from '../../../plugins/outbox/index.ts';
import { Store } from '../../../plugins/store/contract.ts';
import store from '../../../plugins/store/index.ts';
import { bootTest } from '../../support/kernel.ts';

/** Store, outbox and a channel that takes what it is told to take; `call` is a method of the gateway. */
async function place() {
  const line = { isUp: false, seen: [] as string[], hold: undefined as Promise<SendResult> | undefined };
  const send = async ({ itemId }: { readonly itemId: string }): Promise<SendResult> => {
    line.seen.push(itemId);
    if (line.hold) return line.hold;
    return line.isUp ? { kind: 'delivered' } : { kind: 'failed', why: 'the chat is gone' };
  };
  const channel = definePlugin({ name: 'channel', description: '', setup: (ctx) => ctx.tap(SendDelivery, send) });
  const t = await bootTest([store, outbox, channel]);
  const call = <T>(method: string, params: Readonly<Record<string, unknown>> = {}) =>
    t.kernel.run(async (run) => (await run.call(Methods, {}))[method]?.(params, {} as Client, run) as T);
  const put = (itemId: string) =>
    t.kernel.run(async (run) => {
      const facts = { route: 'test:x', sessionKey: 's', itemId, payloads: [{ text: `answer ${itemId}` }], meta: {} };
      return run.get(Store).tx((open) => run.get(Outbox).put(open, facts));
    });
  const answer = async (itemId: string) => {
    const delivery = await put(itemId);
    void t.kernel.run((run) => run.get(Outbox).deliver(run, delivery));
    return delivery.id;
  };
  const rows = async (states?: readonly string[]) =>
    (await call<{ readonly rows: readonly OutboxRow[] }>('outbox.list', states && { states })).rows;
  const states = async () => (await rows(['dead', 'waiting', 'delivered', 'dropped', 'expired'])).map(({ state }) => state);
  return { line, call, put, answer, rows, states, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() };
}

test('a dead letter is listed with its reason and attempts, and sent once more when told to', async () => {
  await using p = await place();
  const id = await p.answer('a');
  await expect.poll(p.states, { interval: 5 }).toEqual(['dead']);
  expect(await p.rows()).toMatchObject([{ id, state: 'dead', attempt: 1, why: 'the chat is gone', payloads: [{ text: 'answer a' }] }]);
  p.line.isUp = true;
  expect(await p.call('outbox.retry', { id: id.slice(0, 8) })).toEqual({ retried: [id] });
  await expect.poll(p.states, { interval: 5 }).toEqual(['delivered']);
  await expect(p.call('outbox.retry', { id })).rejects.toMatchObject({
    code: 'OUTBOX_STATE',
    message: expect.stringContaining('delivered'),
  });
  expect(p.line.seen).toEqual(['a', 'a']);
});

test('each dead letter can be sent again at once, oldest first', async () => {
  await using p = await place();
  for (const itemId of ['a', 'b', 'c']) {
    await p.answer(itemId);
    await expect.poll(async () => (await p.rows(['dead'])).some((row) => row.itemId === itemId), { interval: 5 }).toBe(true);
  }
  p.line.seen.length = 0;
  p.line.isUp = true;
  await p.call('outbox.retry', { all: true });
  await expect.poll(p.states, { interval: 5 }).toEqual(['delivered', 'delivered', 'delivered']);
  expect(p.line.seen).toEqual(['a', 'b', 'c']);
  expect(await p.call('outbox.retry', { all: true })).toEqual({ retried: [] });
});

test('one that waits for its next attempt is sent now; two hands that retry it do not send it twice', async () => {
  await using p = await place();
  p.line.hold = Promise.resolve({ kind: 'retry', why: 'busy' });
  const id = await p.answer('a');
  await expect.poll(async () => (await p.rows())[0]?.why, { interval: 5 }).toBe('busy');
  p.line.hold = undefined;
  p.line.isUp = true;
  const both = await Promise.allSettled([p.call('outbox.retry', { id }), p.call('outbox.retry', { id })]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  await expect.poll(p.states, { interval: 5 }).toEqual(['delivered']);
  expect(p.line.seen).toEqual(['a', 'a']);
});

test('what is dropped is sent no more, even where it was on its way and would be tried again', async () => {
  await using p = await place();
  const hold = Promise.withResolvers<SendResult>();
  p.line.hold = hold.promise;
  const id = await p.answer('a');
  await expect.poll(() => p.line.seen.length, { interval: 5 }).toBe(1);
  expect(await p.call('outbox.drop', { id })).toEqual({ dropped: id });
  hold.resolve({ kind: 'retry', why: 'busy' });
  await expect.poll(p.states, { interval: 5 }).toEqual(['dropped']);
  expect(await p.rows()).toEqual([]);
  await expect(p.call('outbox.drop', { id })).rejects.toMatchObject({ code: 'OUTBOX_STATE' });
  p.line.hold = undefined;
  p.line.isUp = true;
  await p.call('outbox.retry', { id });
  await expect.poll(p.states, { interval: 5 }).toEqual(['delivered']);
});

test.each<[string, string, Readonly<Record<string, unknown>>, string]>([
  ['an unknown id', 'outbox.retry', { id: 'ffffffff' }, 'OUTBOX_UNKNOWN'],
  ['no id', 'outbox.drop', {}, 'OUTBOX_PARAMS'],
  ['an id of another form', 'outbox.retry', { id: "x' OR 1" }, 'OUTBOX_PARAMS'],
  ['too short a beginning', 'outbox.retry', { id: 'abc' }, 'OUTBOX_PARAMS'],
  ['an unknown state', 'outbox.list', { states: ['lost'] }, 'OUTBOX_PARAMS'],
  ['a limit of nothing', 'outbox.list', { limit: 0 }, 'OUTBOX_PARAMS'],
])('%s is refused with what is right', async (_, method, params, code) => {
  await using p = await place();
  await expect(p.call(method, params)).rejects.toMatchObject({ code, status: expect.any(Number) });
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { definePlugin } from '../../../kernel/index.ts';
import { type Client, Methods } from '../../../plugins/gateway/contract.ts';
import gateway from '../../../plugins/gateway/index.ts';
import { bootTest } from '../../support/kernel.ts';
import { connect, gatewayOf } from './wire.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }));
afterEach(() => void vi.useRealTimers());
const minutes = (n: number) => vi.advanceTimersByTimeAsync(n * 60_000);

/** A client that stops reading before it asks for an answer of so many bytes. */
async function slowReader(bytes: number) {
  let client: Client | undefined;
  let isMade = false;
  const answer = (_: unknown, from: Client) => {
    client = from;
    return { toJSON: () => ((isMade = true), 'x'.repeat(bytes)) };
  };
  const plugin = definePlugin({
    name: 'large',
    description: 'test',
    setup: (ctx) => ctx.tap(Methods, (methods) => ({ ...methods, answer })),
  });
  const booted = await bootTest([gateway, plugin], { gateway: { auth: { token: 'right' } } });
  const peer = await connect((await gatewayOf(booted)).url, 'right');
  peer.socket.pause();
  const answered = peer.call('answer');
  answered.catch(() => {}); // where it is cut off
  await expect.poll(() => isMade, { interval: 5 }).toBe(true);
  return {
    peer,
    answered,
    isCutOff: () => client?.signal.aborted,
    async [Symbol.asyncDispose]() {
      peer.socket.terminate();
      await booted[Symbol.asyncDispose]();
    },
  };
}

test('a client that is still reading a large answer is not held for dead, and gets it', async () => {
  await using slow = await slowReader(20 * 1024 * 1024);
  await minutes(5);
  expect(slow.isCutOff()).toBe(false);
  slow.peer.socket.resume();
  expect(await slow.answered).toMatchObject({ ok: true });
});

test('its pongs may be late also when the last of the answer has just left', async () => {
  await using slow = await slowReader(20 * 1024 * 1024);
  slow.peer.socket.pong = () => {}; // still on their way
  await minutes(5);
  slow.peer.socket.resume();
  await slow.answered;
  await minutes(0.5);
  expect(await slow.peer.call('answer')).toMatchObject({ ok: true });
  await minutes(3);
  await expect.poll(slow.isCutOff, { interval: 5 }).toBe(true);
});

test('one that reads nothing for ten minutes is cut off', async () => {
  await using slow = await slowReader(20 * 1024 * 1024);
  await minutes(11);
  await expect.poll(slow.isCutOff, { interval: 5 }).toBe(true);
});

test('one that waits for nothing large is cut off at the second ping that it leaves unanswered', async () => {
  await using slow = await slowReader(10);
  await minutes(1);
  await expect.poll(slow.isCutOff, { interval: 5 }).toBe(true);
});

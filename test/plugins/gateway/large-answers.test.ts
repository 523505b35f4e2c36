import { expect, test } from 'vitest';
import { definePlugin } from '../../../kernel/index.ts';
import { type Client, Methods } from '../../../plugins/gateway/contract.ts';
import gateway from '../../../plugins/gateway/index.ts';
import { bootTest } from '../../support/kernel.ts';
import { connect, gatewayOf } from './wire.ts';

test('an answer of any size reaches its client, which goes on getting events and answers meanwhile', async () => {
  let client: Client | undefined;
  const large = 'x'.repeat(20 * 1024 * 1024);
  const plugin = definePlugin({
    name: 'large',
    description: 'test',
    setup: (ctx) =>
      ctx.tap(Methods, (methods) => ({
        ...methods,
        large: () => large,
        event: (_params, from) => {
          client = from;
          void client.send('live', { n: 1 });
          return 'told';
        },
      })),
  });
  await using t = await bootTest([gateway, plugin], { gateway: { auth: { token: 'right' } } });
  await using peer = await connect((await gatewayOf(t)).url, 'right');
  const answers = await Promise.all(['large', 'event', 'event', 'large'].map((method) => peer.call(method)));
  expect(answers.map(({ ok }) => ok)).toEqual([true, true, true, true]);
  expect(String(answers[0]?.result)).toHaveLength(large.length);
  expect(peer.frames.filter(({ event }) => event === 'live')).toHaveLength(2);
});

test('of a client that does not read, one large answer is made at a time and few calls are at work; it gets all once it reads', async () => {
  const began: unknown[] = [];
  const made: unknown[] = [];
  const answer = ({ n }: Readonly<Record<string, unknown>>) => {
    began.push(n);
    return { toJSON: () => (made.push(n), 'x'.repeat(n === 0 ? 20 * 1024 * 1024 : 300 * 1024)) };
  };
  const plugin = definePlugin({
    name: 'large',
    description: 'test',
    setup: (ctx) => ctx.tap(Methods, (methods) => ({ ...methods, answer, small: () => 'small' })),
  });
  await using t = await bootTest([gateway, plugin], { gateway: { auth: { token: 'right' } } });
  const { url } = await gatewayOf(t);
  await using peer = await connect(url, 'right');
  await using other = await connect(url, 'right');
  peer.socket.setMaxListeners(0);
  peer.socket.pause();
  const answers = Promise.all(Array.from({ length: 20 }, (_, n) => peer.call('answer', { n })));
  await expect.poll(() => began.length, { interval: 5 }).toBe(16);
  expect(await other.call('small')).toMatchObject({ ok: true });
  expect([began.length, made]).toEqual([16, [0]]);
  peer.socket.resume();
  expect((await answers).every(({ ok }) => ok)).toBe(true);
  expect(made).toHaveLength(20);
});

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { definePlugin } from '../../../kernel/index.ts';
import { Events } from '../../../plugins/events/contract.ts';
import { type Arrival, Inbox } from '../../../plugins/inbox/contract.ts';
import { type Delivery, SendDelivery } from '../../../plugins/outbox/contract.ts';
import { Sessions } from '../../../plugins/sessions/contract.ts';
import { bundled, mockConfig } from '../../support/bundled.ts';
import { testKernel } from '../../support/kernel.ts';
import { startMock } from '../../support/mock-model.ts';

/** The whole product in this process, with a door of its own: `say` waits for what the outbox sends. */
async function product() {
  const mock = await startMock();
  const t = await testKernel();
  const waiting = new Map<string, (delivery: Delivery) => void>();
  const door = definePlugin({
    name: 'test-door',
    description: 'a channel for tests',
    setup: (ctx) =>
      ctx.tap(SendDelivery, (delivery) => {
        if (!delivery.route.startsWith('test:')) return undefined;
        waiting.get(delivery.route)?.(delivery);
        return { kind: 'delivered' };
      }),
  });
  await t.apply([...(await bundled()), door], mockConfig(mock.url, t.home));
  let count = 0;
  const say = (content: string, facts: Partial<Arrival> = {}) => {
    const route = `test:${++count}`;
    const answer = new Promise<Delivery>((resolve) => waiting.set(route, resolve));
    const arrival: Arrival = {
      sessionKey: 'agent:main:test',
      agentId: 'main',
      content,
      route,
      provenance: { kind: 'external_user' },
      subject: {
        channel: 'test',
        sender: 'owner',
        session: 'main',
      },
      ...facts,
    };
    return t.kernel.run((run) => run.get(Inbox).enqueue(arrival)).then(() => answer);
  };
  return {
    t,
    mock,
    say,
    async [Symbol.asyncDispose]() {
      await t[Symbol.asyncDispose]();
      await mock[Symbol.asyncDispose]();
    },
  };
}

test('a message is answered, and the transcript holds both sides', async () => {
  await using p = await product();
  const answer = await p.say('hello there');
  expect(answer.payloads).toEqual([{ text: expect.stringContaining('hello there') }]);
  const transcript = await p.t.kernel.run((run) => run.get(Sessions).open('agent:main:test'));
  const lines = (await readFile(transcript.file, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map((line) => line.message?.role ?? line.type)).toEqual(['session', 'user', 'assistant']);
  expect(transcript.file).toBe(join(p.t.home, 'agents/main/sessions', `${transcript.sessionId}.jsonl`));
});

test('SPEC 6.1: a tool is called and its result goes back to the model', async () => {
  await using p = await product();
  const answer = await p.say('[[tool:write {"path":"a.txt","content":"hi"}]]');
  expect(answer.meta.error).toBeUndefined();
  expect(await readFile(join(p.t.home, 'ws/a.txt'), 'utf8')).toBe('hi');
  const roles = await p.t.kernel.run(async (run) => (await run.get(Sessions).open('agent:main:test')).entries.map((e) => e.message.role));
  expect(roles).toEqual(['user', 'assistant', 'toolResult', 'assistant']);
});

test('an error of the model is an answer with a code, and the session goes on', async () => {
  await using p = await product();
  const failed = await p.say('[[status:401]]');
  expect(failed.payloads.at(-1)).toMatchObject({ isError: true, text: expect.stringContaining('MODEL_HTTP') });
  expect((await p.say('again')).payloads[0]?.text).toContain('again');
});

test('one turn at a time per session; two sessions side by side', async () => {
  await using p = await product();
  const slow = p.say('[[hold]] first');
  const second = p.say('second');
  const other = p.say('elsewhere', { sessionKey: 'agent:main:two' });
  const order: string[] = [];
  const all = [slow.then(() => order.push('first')), second.then(() => order.push('second')), other.then(() => order.push('other'))];
  await other;
  p.mock.release();
  await Promise.all(all);
  expect(order).toEqual(['other', 'first', 'second']);
});

test('SPEC 6.4: a stop leaves a valid transcript', async () => {
  await using p = await product();
  const slow = p.say('[[hold]] never');
  await expect.poll(() => p.mock.requests.length, { interval: 5 }).toBe(1);
  await p.t.kernel.run((run) => run.get(Inbox).abort('agent:main:test', 'stop'));
  expect((await slow).meta.stopReason).toBe('aborted');
  expect((await p.say('go on')).payloads[0]?.text).toContain('go on');
});

test('the same idempotency key is one item', async () => {
  await using p = await product();
  const enqueue = () =>
    p.t.kernel.run((run) =>
      run.get(Inbox).enqueue({
        sessionKey: 'agent:main:test',
        agentId: 'main',
        content: 'once',
        route: 'test:x',
        idempotencyKey: 'k',
        provenance: { kind: 'external_user' },
        subject: {},
      }),
    );
  const [first, second] = [await enqueue(), await enqueue()];
  expect(second).toMatchObject({ itemId: first.itemId, known: true });
});

test('U217: a silent reply reaches nobody, however its stream is cut; one that only begins like it arrives whole', async () => {
  await using p = await product();
  const shown: string[] = [];
  await p.t.kernel.run((run) =>
    run.get(Events).watch({}, ({ type, data }) => {
      if (type === 'message_update') shown.push(String(data['delta']));
    }),
  );
  expect((await p.say('[[reply:NO_REPLY]]')).payloads).toEqual([]);
  expect((await p.say('[[reply:NO_REPLY is a token]]')).payloads).toEqual([{ text: 'NO_REPLY is a token' }]);
  await expect.poll(() => shown.join('')).toBe('NO_REPLY is a token');
});

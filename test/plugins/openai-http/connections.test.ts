import { expect, test } from 'vitest';
import { boot, hello, read } from './endpoint.ts';

test.each([true, false])('a client that leaves cancels its run, unless it gave an Idempotency-Key (streaming: %s)', async (stream) => {
  await using p = await boot();
  const started = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const ended = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const release = Promise.withResolvers<void>();
  let count = 0;
  p.turns.answer = async (turn) => {
    const n = count++;
    turn.emit('message_update', { messageId: 'm', kind: 'text', index: 0, delta: 'begun' });
    started[n]?.resolve();
    await (n === 0 ? new Promise((resolve) => turn.signal.addEventListener('abort', resolve)) : release.promise);
    ended[n]?.resolve();
  };
  const leave = async (n: number, options: object) => {
    const abort = new AbortController();
    const asked = p.client.chat.completions.create({ ...hello, stream }, { signal: abort.signal, ...options });
    const reading = (async () => {
      const got = await asked;
      if (stream) for await (const _chunk of got as AsyncIterable<unknown>) void _chunk;
    })();
    await started[n]?.promise;
    abort.abort();
    await reading.catch(() => {}); // a stream that its reader aborts just ends
  };
  await leave(0, {});
  await ended[0]?.promise;
  expect(p.turns.cancelled).toHaveLength(1);
  await leave(1, { headers: { 'Idempotency-Key': 'k1' } });
  release.resolve();
  await ended[1]?.promise;
  expect(p.turns.cancelled).toHaveLength(1);
  expect(await p.client.chat.completions.create(hello, { headers: { 'Idempotency-Key': 'k1' } })).toMatchObject({
    choices: [{ message: { content: 'You said: hello' } }],
  });
  expect(p.turns.settled[0]?.result?.kind).toBe('gone');
});

test('an Idempotency-Key rejoins the running turn, streaming or not, and later returns the stored answer', async () => {
  await using p = await boot();
  const [started, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let turns = 0;
  p.turns.answer = async (turn) => {
    turns++;
    turn.emit('message_update', { messageId: 'm', kind: 'text', index: 0, delta: 'You said: ' });
    started.resolve();
    await release.promise;
    turn.emit('message_update', { messageId: 'm', kind: 'text', index: 0, delta: 'hello' });
  };
  const headers = { 'Idempotency-Key': 'k1' };
  const first = p.client.chat.completions.create(hello, { headers });
  await started.promise;
  const second = p.client.chat.completions.create(hello, { headers });
  const third = p.client.chat.completions.create({ ...hello, stream: true }, { headers }).then(read);
  await expect.poll(() => p.turns.arrivals.length).toBe(3);
  release.resolve();
  const texts = [(await first).choices[0]?.message.content, (await second).choices[0]?.message.content, (await third).text];
  const fourth = await p.client.chat.completions.create(hello, { headers });
  expect([...texts, fourth.choices[0]?.message.content]).toEqual(Array.from({ length: 4 }, () => 'You said: hello'));
  expect(turns).toBe(1);
});

test('SPEC 14.4: a reload of gateway, events and the endpoint in mid-stream is not seen by the client', async () => {
  await using p = await boot();
  const [half, rest] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  p.turns.answer = async (turn) => {
    turn.emit('message_update', { messageId: 'm', kind: 'text', index: 0, delta: 'before ' });
    half.resolve();
    await rest.promise;
    turn.emit('message_update', { messageId: 'm', kind: 'text', index: 0, delta: 'after' });
  };
  const streamed = p.client.chat.completions.create({ ...hello, stream: true }).then(read);
  await half.promise;
  await p.reload('2');
  const whole = p.client.chat.completions.create(hello);
  await expect.poll(() => p.turns.arrivals.length).toBe(2);
  await p.reload('3');
  rest.resolve();
  expect((await streamed).text).toBe('before after');
  expect((await whole).choices[0]?.message.content).toBe('You said: hello');
  expect(p.turns.settled.map(({ result }) => result?.kind)).toEqual(['delivered', 'delivered']);
});

test('a stop of the gateway tells the requests that still wait', async () => {
  await using p = await boot();
  const [started, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  p.turns.answer = () => {
    started.resolve();
    return release.promise;
  };
  const waiting = p.client.chat.completions.create(hello);
  await started.promise;
  p.kernel.kernel.abort('stopped by the user');
  await expect(waiting).rejects.toMatchObject({ status: 503, code: 'NOT_LIVE' });
  release.resolve();
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { attemptOf, type ModelAdapter } from '../../../plugins/models/contract.ts';
import { Events } from '../../../plugins/events/contract.ts';
import { product } from '../runtime-embedded/product.ts';

// How long a rest still lasts, and how long was waited, is what the tests say: the clock stands still.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

/** Refuses so many requests, each time naming when to come again. */
function busy(times: number, retryAfterMs: number) {
  const asked: number[] = [];
  const adapter: ModelAdapter['complete'] = async ({ model }, on) => {
    if (asked.push(performance.now()) <= times) {
      const headers = { 'retry-after-ms': `${retryAfterMs}` };
      return attemptOf(model, {}, { code: 'MODEL_HTTP', status: 429, message: 'busy', headers });
    }
    on({ type: 'text', index: 0, delta: 'here I am' });
    return attemptOf(model, { content: [{ type: 'text', text: 'here I am' }] });
  };
  return { adapter, asked };
}

test('SPEC 7.4, U144: a short Retry-After of the last model is waited out, in sight of who waits, and told with the answer', async () => {
  const server = busy(1, 120);
  await using p = await product([], { adapter: server.adapter });
  const told: number[] = [];
  await p.t.kernel.run((run) =>
    run.get(Events).watch({}, ({ type }) => {
      if (type !== 'model_waiting') return;
      told.push(performance.now());
      vi.setSystemTime(Date.now() + 120);
    }),
  );
  const answer = await p.channel.ask('go');
  expect(answer).toMatchObject({ text: 'here I am', meta: { stopReason: 'stop', waitedMs: 120 } });
  expect((server.asked[1] ?? 0) - (told[0] ?? Infinity)).toBeGreaterThan(118); // a timer may be early by one
  const [event] = p.events.filter(({ type }) => type === 'model_waiting');
  expect(event?.data).toMatchObject({ model: 'own/own', profile: 'own:default', reason: 'rate_limit', ms: 120 });
  expect(p.t.records).toContainEqual(
    expect.objectContaining({ level: 'info', message: expect.stringMatching(/^all models rest; waiting 0\.1 s for own\/own/) }),
  );
});

test('once: the second refusal is the answer, with both attempts', async () => {
  const server = busy(9, 20);
  await using p = await product([], { adapter: server.adapter });
  const { meta } = await p.channel.ask('go');
  expect(meta.error).toMatchObject({ code: 'FAILOVER_EXHAUSTED', message: expect.stringMatching(/own\/own.*; own\/own/) });
  expect(server.asked).toHaveLength(2);
});

test('a stop ends the wait at once', async () => {
  const server = busy(1, 10_000);
  await using p = await product([], { adapter: server.adapter });
  const asked = p.channel.ask('go');
  await expect.poll(() => p.events.some(({ type }) => type === 'model_waiting'), { interval: 5 }).toBe(true);
  await p.stop();
  expect((await asked).meta.stopReason).toBe('aborted');
  expect(server.asked).toHaveLength(1);
});

test('with failover.waitSeconds 0 nobody waits, and the error says when to come again', async () => {
  const server = busy(1, 5000);
  await using p = await product([], { adapter: server.adapter, config: { failover: { waitSeconds: 0 } } });
  const { meta } = await p.channel.ask('go');
  expect(meta.error).toMatchObject({ message: expect.stringContaining('wait 5 s') });
  expect(p.events.some(({ type }) => type === 'model_waiting')).toBe(false);
});

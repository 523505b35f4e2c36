import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { inTime } from '../../../plugins/failover/deadline.ts';
import { attemptOf, type Model, type ModelEvent, type ModelReply } from '../../../plugins/models/contract.ts';

// Timers that other files left in this worker are not ours.
beforeEach(() => void vi.useFakeTimers().clearAllTimers());
afterEach(() => void vi.useRealTimers());

const model: Model = {
  provider: 'a',
  id: '1',
  name: '1',
  api: 'x',
  baseUrl: 'x:',
  contextWindow: 1,
  maxTokens: 1,
  input: ['text'],
  reasoning: false,
};
const deadlines = { firstMs: 1000, idleMs: 500, graceMs: 100 };
const text: ModelEvent = { type: 'text', index: 0, delta: 'x' };
const aborted = (): ModelReply => {
  const failure = { code: 'MODEL_ABORTED', message: 'stopped' };
  return { message: attemptOf(model, { content: [{ type: 'text', text: 'half' }] }, failure).message, failure };
};
/** An adapter that says something at these times, and ends when it is told to, unless it is deaf. */
const adapter =
  (at: readonly number[], endsAt = Infinity, isDeaf = false) =>
  (signal: AbortSignal, on: (event: ModelEvent) => void) =>
    new Promise<ModelReply>((resolve) => {
      for (const ms of at) setTimeout(() => on(text), ms);
      if (endsAt < Infinity) setTimeout(() => resolve({ message: attemptOf(model, {}).message }), endsAt);
      if (!isDeaf) signal.addEventListener('abort', () => resolve(aborted()), { once: true });
      if (!isDeaf && signal.aborted) resolve(aborted());
    });

async function ended(ask: ReturnType<typeof adapter>, stopAt = Infinity) {
  const stop = new AbortController();
  const heard: number[] = [];
  const began = Date.now();
  if (stopAt === 0) stop.abort();
  else if (stopAt < Infinity) setTimeout(() => stop.abort(), stopAt);
  const reply = inTime(ask, model, stop.signal, () => heard.push(Date.now() - began), deadlines).then((done) => ({
    done,
    ms: Date.now() - began,
  }));
  await vi.advanceTimersByTimeAsync(20_000);
  const { done, ms } = await reply;
  return { code: done.failure?.code, reason: done.failure?.reason, ms, heard, text: done.message.content, timers: vi.getTimerCount() };
}

test.for<readonly [string, Parameters<typeof adapter>, number, object]>([
  ['answers in time', [[900, 1300], 1400], Infinity, { code: undefined, ms: 1400, heard: [900, 1300] }],
  ['U143: never begins', [[]], Infinity, { code: 'MODEL_TIMEOUT', reason: 'timeout', ms: 1000 }],
  ['falls silent', [[100, 200]], Infinity, { code: 'MODEL_TIMEOUT', reason: 'timeout', ms: 700 }],
  ['is long but never silent', [[400, 800, 1200, 1600, 2000], 2100], Infinity, { code: undefined, ms: 2100 }],
  ['is stopped', [[100]], 300, { code: 'MODEL_ABORTED', reason: undefined, ms: 300 }],
  ['was stopped before', [[100]], 0, { code: 'MODEL_ABORTED', reason: undefined, ms: 0, heard: [] }],
  ['does not hear that it is stopped', [[100], 5000, true], 300, { code: 'MODEL_ABORTED', reason: undefined, ms: 400 }],
  ['does not hear that it is late, and speaks on', [[1050, 1500], 5000, true], Infinity, { code: 'MODEL_TIMEOUT', ms: 1100, heard: [] }],
])('an attempt that %s', async ([, given, stopAt, end]) => {
  expect(await ended(adapter(...given), stopAt)).toMatchObject({ ...end, timers: 0 });
});

test('what had arrived of a late answer is kept', async () => {
  expect((await ended(adapter([100]))).text).toEqual([{ type: 'text', text: 'half' }]);
});

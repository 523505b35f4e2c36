import { expect, test } from 'vitest';
import { always, ask, type Ending, only, two, type World } from './walk-world.ts';

const patienceMs = 15_000;
/** The first so many attempts fail so. */
const first = (n: number, end: Ending) => (_ref: string, _profile: string, nth: number) => (nth <= n ? end : 'ok');

test('a stop while the first of all is waited for asks nobody, and tells how long was waited', async () => {
  const { asked, reply, waits } = await ask({
    chain: ['a/1'],
    profiles: { a: ['p**'] },
    ending: always('ok'),
    patienceMs,
    stopsWait: true,
  });
  expect([asked, waits, reply.failure?.code, reply.waitedMs]).toEqual([[], ['a/1 p 2000'], 'MODEL_ABORTED', 0]);
});

test.each<[string, World, readonly string[], readonly string[], string]>([
  [
    'a short Retry-After of the only one is waited out, and it is asked again',
    { chain: ['a/1'], profiles: { a: ['p'] }, ending: first(1, 'rate_limit!'), patienceMs, retryAfterMs: () => 3000 },
    ['a/1 p', 'a/1 p probe'],
    ['a/1 p 3000'],
    'ok',
  ],
  [
    'of all that said when to come again, the soonest',
    {
      chain: ['a/1', 'b/1'],
      profiles: two,
      ending: first(3, 'overloaded'),
      patienceMs,
      retryAfterMs: (_, profile) => (profile === 'p2' ? 2000 : 9000),
    },
    ['a/1 p1', 'a/1 p2', 'b/1 q', 'a/1 p2 probe'],
    ['a/1 p2 2000'],
    'ok',
  ],
  [
    'once only: where it fails again the user is told of each attempt',
    { chain: ['a/1'], profiles: { a: ['p'] }, ending: always('rate_limit!'), patienceMs, retryAfterMs: () => 3000 },
    ['a/1 p', 'a/1 p probe'],
    ['a/1 p 3000'],
    'FAILOVER_EXHAUSTED',
  ],
  [
    'U140: an only model that is overloaded and does not say for how long is asked once more, after a moment',
    { chain: ['a/1'], profiles: { a: ['p'] }, ending: first(1, 'overloaded'), patienceMs },
    ['a/1 p', 'a/1 p probe'],
    ['a/1 p 2000'],
    'ok',
  ],
  [
    'U140: and no more than once',
    { chain: ['a/1'], profiles: { a: ['p'] }, ending: always('overloaded'), patienceMs },
    ['a/1 p', 'a/1 p probe'],
    ['a/1 p 2000'],
    'FAILOVER_EXHAUSTED',
  ],
  [
    'a long Retry-After is not waited out',
    { chain: ['a/1'], profiles: { a: ['p'] }, ending: always('rate_limit!'), patienceMs, retryAfterMs: () => 15_001 },
    ['a/1 p'],
    [],
    'MODEL_HTTP',
  ],
  [
    'with no patience nothing is',
    { chain: ['a/1'], profiles: { a: ['p'] }, ending: always('rate_limit!'), patienceMs: 0, retryAfterMs: () => 1 },
    ['a/1 p'],
    [],
    'MODEL_HTTP',
  ],
  [
    'another model goes before any wait (U144)',
    { chain: ['a/1', 'b/1'], profiles: { a: ['p'], b: ['q'] }, ending: only('a/1', 'rate_limit!'), patienceMs, retryAfterMs: () => 1 },
    ['a/1 p', 'b/1 q'],
    [],
    'ok',
  ],
  [
    'U137: where all rests from before and one is ready soon, its rest is waited out instead of asking it too early',
    { chain: ['a/1', 'b/1'], profiles: { a: ['p**'], b: ['q***'] }, ending: always('ok'), patienceMs },
    ['a/1 p probe'],
    ['a/1 p 2000'],
    'ok',
  ],
  [
    'SPEC 7.8: where all rests for longer the soonest is asked at once',
    { chain: ['a/1', 'b/1'], profiles: { a: ['p**'], b: ['q***'] }, ending: always('ok'), patienceMs: 1000 },
    ['a/1 p probe'],
    [],
    'ok',
  ],
  [
    'what failed for another reason is not waited for',
    { chain: ['a/1'], profiles: { a: ['p'] }, ending: always('auth'), patienceMs, retryAfterMs: () => 1000 },
    ['a/1 p'],
    [],
    'MODEL_HTTP',
  ],
  [
    'a stop ends the wait, and nothing is asked any more',
    { chain: ['a/1'], profiles: { a: ['p'] }, ending: always('rate_limit!'), patienceMs, retryAfterMs: () => 3000, stopsWait: true },
    ['a/1 p'],
    ['a/1 p 3000'],
    'MODEL_ABORTED',
  ],
])('waiting: %s', async (_, world, asked, waits, end) => {
  const { reply, ...seen } = await ask(world);
  expect([seen.asked, seen.waits]).toEqual([asked, waits]);
  expect(reply.failure?.code ?? 'ok').toBe(end);
  const waited = world.stopsWait ? 0 : Number(waits[0]?.split(' ').at(-1));
  expect(reply.waitedMs).toBe(waits.length ? waited : undefined);
});

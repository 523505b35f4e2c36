import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { always, ask, only, two, type World } from './walk-world.ts';

test.each<[string, World, readonly string[], string]>([
  // each reason that moves on: profiles before models
  ...(['rate_limit', 'auth', 'billing', 'timeout', 'overloaded'] as const).flatMap((reason): [string, World, string[], string][] => [
    [`${reason} of one profile`, { chain: ['a/1', 'b/1'], profiles: two, ending: only('a/1 p1', reason) }, ['a/1 p1', 'a/1 p2'], 'a/1'],
    [
      `${reason} of all profiles`,
      { chain: ['a/1', 'b/1'], profiles: two, ending: only('a/1', reason) },
      ['a/1 p1', 'a/1 p2', 'b/1 q'],
      'b/1',
    ],
    [
      `${reason} everywhere`,
      { chain: ['a/1', 'b/1'], profiles: two, ending: always(reason) },
      ['a/1 p1', 'a/1 p2', 'b/1 q'],
      'FAILOVER_EXHAUSTED',
    ],
    [`${reason} of the only one`, { chain: ['a/1'], profiles: { a: ['p'] }, ending: always(reason) }, ['a/1 p'], 'MODEL_HTTP'],
  ]),
  [
    'model_not_found moves to the next model',
    { chain: ['a/1', 'a/2'], profiles: two, ending: only('a/1', 'model_not_found!') },
    ['a/1 p1', 'a/2 p1'],
    'a/2',
  ],
  [
    'U133: a limit of one model leaves its profile to the next',
    { chain: ['a/1', 'a/2'], profiles: { a: ['p'] }, ending: only('a/1', 'rate_limit!') },
    ['a/1 p', 'a/2 p'],
    'a/2',
  ],
  [
    'a refused key is not tried with another model',
    { chain: ['a/1', 'a/2', 'b/1'], profiles: { a: ['p'] }, ending: only('a/', 'auth') },
    ['a/1 p', 'b/1 only'],
    'b/1',
  ],
  ['… nor as a last resort', { chain: ['a/1', 'a/2'], profiles: { a: ['p'] }, ending: always('auth') }, ['a/1 p'], 'FAILOVER_EXHAUSTED'],
  [
    'context_overflow never switches',
    { chain: ['a/1', 'b/1'], profiles: two, ending: always('context_overflow!') },
    ['a/1 p1'],
    'MODEL_HTTP',
  ],
  [
    '… also later in the chain',
    { chain: ['a/1', 'b/1', 'b/2'], profiles: { a: ['p'] }, ending: (ref) => (ref === 'a/1' ? 'timeout!' : 'context_overflow!') },
    ['a/1 p', 'b/1 only'],
    'MODEL_HTTP',
  ],
  ['format is shown', { chain: ['a/1', 'b/1'], profiles: two, ending: always('format') }, ['a/1 p1'], 'MODEL_HTTP'],
  ['format of this model moves on', { chain: ['a/1', 'a/2'], profiles: two, ending: only('a/1', 'format!') }, ['a/1 p1', 'a/2 p1'], 'a/2'],
  [
    'unknown is asked once more',
    { chain: ['a/1', 'b/1'], profiles: two, ending: (_ref, _profile, nth) => (nth === 1 ? 'unknown' : 'ok') },
    ['a/1 p1', 'a/1 p1'],
    'a/1',
  ],
  ['… then shown', { chain: ['a/1', 'b/1'], profiles: two, ending: always('unknown') }, ['a/1 p1', 'a/1 p1'], 'FAILOVER_EXHAUSTED'],
  [
    '… and may fail for a known reason then',
    {
      chain: ['a/1', 'b/1'],
      profiles: { a: ['p'] },
      ending: (ref, _p, nth) => (nth === 1 ? 'unknown' : ref === 'a/1' ? 'overloaded!' : 'ok'),
    },
    ['a/1 p', 'a/1 p', 'b/1 only'],
    'b/1',
  ],
  ['what was shown is not taken back', { chain: ['a/1', 'b/1'], profiles: two, ending: always('timeout!+text') }, ['a/1 p1'], 'MODEL_HTTP'],
  [
    'a request that is not admitted is not tried elsewhere',
    { chain: ['a/1', 'b/1'], profiles: two, ending: always('refused') },
    ['a/1 p1'],
    'BUDGET_EXCEEDED',
  ],
  ['a stop ends at once', { chain: ['a/1', 'b/1'], profiles: two, ending: always('stop') }, ['a/1 p1'], 'MODEL_ABORTED'],
  [
    'a profile that rests is passed over (U136)',
    { chain: ['a/1'], profiles: { a: ['p1*', 'p2'] }, ending: always('ok') },
    ['a/1 p2'],
    'a/1',
  ],
  [
    'a model whose profiles rest is passed over',
    { chain: ['a/1', 'b/1'], profiles: { a: ['p*'] }, ending: always('ok') },
    ['b/1 only'],
    'b/1',
  ],
  [
    'SPEC 7.8, U137: where all rest, the soonest is tried',
    { chain: ['a/1', 'b/1', 'c/1'], profiles: { a: ['p***'], b: ['q*'], c: ['r**'] }, ending: always('ok') },
    ['b/1 q probe'],
    'b/1',
  ],
  [
    '… once',
    { chain: ['a/1', 'b/1'], profiles: { a: ['p**'], b: ['q*'] }, ending: always('overloaded!') },
    ['b/1 q probe'],
    'FAILOVER_EXHAUSTED',
  ],
  [
    'what rests is a last resort',
    { chain: ['a/1', 'b/1'], profiles: { a: ['p*'] }, ending: only('b/1', 'overloaded!') },
    ['b/1 only', 'a/1 p probe'],
    'a/1',
  ],
  [
    'a model that is not there is passed over',
    { chain: ['a/1', '?/x', 'b/1'], profiles: { a: ['p'] }, ending: only('a/1', 'auth') },
    ['a/1 p', 'b/1 only'],
    'b/1',
  ],
])('SPEC 7.4: %s', async (_, world, asked, end) => {
  const done = await ask(world);
  expect(done.asked).toEqual(asked);
  expect(done.failure?.code ?? `${done.reply.message.provider}/${done.reply.message.model}`).toBe(end);
});

test('SPEC 7.4: all failing is one error with each attempt, what was not asked, and the reason of the first', async () => {
  const { failure, reply } = await ask({
    chain: ['a/1', '?/x', 'b/1'],
    profiles: { a: ['p1', 'p2'], b: ['q', 'r*'] },
    ending: (ref, _p, nth) => (ref === 'b/1' ? (nth === 4 ? 'auth' : 'timeout!') : 'rate_limit!'),
  });
  expect(failure).toMatchObject({ code: 'FAILOVER_EXHAUSTED', reason: 'rate_limit' });
  expect(failure?.attempts.map(({ model, profile, reason }) => [model, profile, reason])).toEqual([
    ['a/1', 'p1', 'rate_limit'],
    ['a/1', 'p2', 'rate_limit'],
    ['b/1', 'q', 'timeout'],
    ['b/1', 'r', 'auth'],
  ]);
  expect(failure?.message).toMatch(
    /^no model answered: a\/1 as p1: rate_limit after 0\.0 s \(said rate_limit!\); .*\?\/x: not asked \(no such model\)$/,
  );
  expect(reply.message.errorMessage).toBe(failure?.message);
});

test('SPEC 7.10: what every attempt used is counted', async () => {
  const { reply } = await ask({ chain: ['a/1', 'b/1'], profiles: two, ending: only('a/1', 'overloaded') });
  expect(reply.spent).toMatchObject({ input: 1 + 2 + 3, output: 3 });
  expect((await ask({ chain: ['a/1'], profiles: two, ending: always('ok') })).reply.spent).toBeUndefined();
});

const endings = [
  'ok',
  'stop',
  'refused',
  'format',
  'format!',
  'unknown',
  'context_overflow!',
  'model_not_found!',
  'timeout!',
  'timeout!+text',
  'rate_limit',
  'rate_limit!',
  'auth',
  'billing',
  'overloaded!',
];

test('SPEC 7.8: an ask ends after few attempts, whatever happens; a stop, an answer, shown text and an overflow are the last', async () => {
  const worlds = fc.record({
    chain: fc
      .uniqueArray(fc.constantFrom('a/1', 'a/2', 'b/1', 'c/1', '?/x'), { minLength: 1, maxLength: 5 })
      .filter(([first]) => first !== '?/x'),
    a: fc.uniqueArray(fc.constantFrom('p1', 'p2*', 'p3**'), { minLength: 1, maxLength: 3 }),
    b: fc.uniqueArray(fc.constantFrom('q1', 'q2***'), { minLength: 1, maxLength: 2 }),
    ends: fc.array(fc.constantFrom(...endings), { minLength: 40, maxLength: 40 }),
    patienceMs: fc.constantFrom(0, 2000),
    retry: fc.constantFrom(undefined, 500, 5000),
  });
  await fc.assert(
    fc.asyncProperty(worlds, async ({ chain, a, b, ends, patienceMs, retry }) => {
      const ending = (_ref: string, _profile: string, nth: number) => ends[nth - 1] ?? 'ok';
      const { asked, reply, pauses, waits } = await ask({ chain, profiles: { a, b }, ending, patienceMs, retryAfterMs: () => retry });
      const last = ends[asked.length - 1]!;
      expect(asked.length).toBeGreaterThan(0); // never all at rest and nothing asked
      expect(waits.length).toBeLessThanOrEqual(patienceMs ? 1 : 0);
      const again = asked.length - pauses - new Set(asked).size; // each once, but for those asked again, and one after a wait
      expect(again).toBeGreaterThanOrEqual(0);
      expect(again).toBeLessThanOrEqual(waits.length);
      expect(pauses).toBeLessThanOrEqual(new Set(asked).size);
      const final = ['ok', 'stop', 'refused', 'format', 'context_overflow!', 'timeout!+text'];
      for (const end of ends.slice(0, asked.length - 1)) expect(final).not.toContain(end);
      expect(reply.failure === undefined).toBe(last === 'ok');
      if (last === 'stop') expect(reply.failure?.code).toBe('MODEL_ABORTED');
      if (last === 'context_overflow!') expect(reply.failure?.reason).toBe('context_overflow');
    }),
    { numRuns: 400 },
  );
});

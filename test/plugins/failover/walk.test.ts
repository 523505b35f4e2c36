/* reason: the tables of one walk. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Standing } from '../../../plugins/auth-profiles/contract.ts';
import type { Candidate } from '../../../plugins/failover/chain.ts';
import type { FailoverError } from '../../../plugins/failover/contract.ts';
import type { Step } from '../../../plugins/failover/step.ts';
import { walk } from '../../../plugins/failover/walk.ts';
import { attemptOf, type FailureReason, type Model, type ModelFailure, type ModelReply } from '../../../plugins/models/contract.ts';

/** `a/1`: model 1 of provider a. */
const modelOf = (ref: string): Model => {
  const [provider = '', id = ''] = ref.split('/');
  return { provider, id, name: id, api: 'x', baseUrl: 'x:', contextWindow: 1, maxTokens: 1, input: ['text'], reasoning: false };
};
const usage = (n: number) => ({ input: n, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: n + 1 });

/** How an attempt ends: `ok`, a reason, `reason!` where it is the model's, `reason+text` where text was shown before; `refused`: not admitted; `stop`: the user's stop comes. */
type Ending = string;

interface World {
  readonly chain: readonly string[];
  /** Profiles by provider; `p*`: it rests, and is ready after so many as there are stars. */
  readonly profiles: Readonly<Record<string, readonly string[]>>;
  readonly ending: (ref: string, profile: string, nth: number) => Ending;
  readonly patienceMs?: number;
  /** What a server that fails says of coming again. */
  readonly retryAfterMs?: (ref: string, profile: string) => number | undefined;
  /** The user's stop comes while it is waited. */
  readonly stopsWait?: boolean;
}

/** Runs an ask in a world of which only the walk is real; profiles rest as the real ones do. */
async function ask({ chain, profiles, ending, patienceMs = 0, retryAfterMs = () => undefined, stopsWait = false }: World) {
  const asked: string[] = [];
  const abort = new AbortController();
  const resting = new Map<string, FailureReason>();
  let pauses = 0;
  const waits: string[] = [];
  let clock = 0;
  const standingsOf = (model: Model): readonly Standing[] => {
    const all = (profiles[model.provider] ?? ['only']).map((name): Standing => {
      const id = name.replace(/\*+$/, '');
      const profile = { id, provider: model.provider, mode: 'api_key', origin: 'config' } as const;
      const reason = name.endsWith('*') ? 'rate_limit' : (resting.get(id) ?? resting.get(`${id} ${model.id}`));
      if (reason) return { profile, usable: false, readyAt: 1000 * (name.length - id.length || 50), reason, errors: 1, why: 'rests' };
      return { profile, usable: true, errors: 0, why: 'next' };
    });
    return all.toSorted((x, y) => (x.usable ? 0 : x.readyAt!) - (y.usable ? 0 : y.readyAt!));
  };
  const candidates = chain.map(
    (ref): Candidate => ({
      ref,
      why: 'test',
      model: async () => (ref.startsWith('?') ? Promise.reject(new Error('no such model')) : modelOf(ref)),
    }),
  );
  const attempt = async ({ ref, standing, isProbe }: Step) => {
    asked.push(`${ref} ${standing.profile.id}${isProbe ? ' probe' : ''}`);
    const end = ending(ref, standing.profile.id, asked.length);
    const model = modelOf(ref);
    if (end === 'stop') abort.abort();
    if (end === 'ok')
      return {
        reply: { message: attemptOf(model, { content: [{ type: 'text', text: ref }], usage: usage(asked.length) }).message },
        isShown: true,
      };
    const [name = '', shown] = end.split('+');
    const reason = name.replace('!', '') as FailureReason;
    const retry = retryAfterMs(ref, standing.profile.id);
    const after = retry !== undefined && { retryAfterMs: retry };
    const failure: ModelFailure =
      name === 'stop'
        ? { code: 'MODEL_ABORTED', message: 'stopped' }
        : name === 'refused'
          ? { code: 'BUDGET_EXCEEDED', message: 'too dear' }
          : { code: 'MODEL_HTTP', message: `${ref} said ${name}`, reason, ...(name.endsWith('!') && { perModel: true }), ...after }; // prettier-ignore
    const content = shown ? [{ type: 'text', text: 'half' } as const] : [];
    const reply: ModelReply = { message: attemptOf(model, { content, usage: usage(asked.length) }, failure).message, failure };
    return { reply, isShown: shown !== undefined };
  };
  const reply = await walk({
    chain: candidates,
    signal: abort.signal,
    standingsOf,
    attempt,
    now: () => clock,
    pause: async () => void pauses++,
    patienceMs,
    async wait({ ref, standing }, ms) {
      waits.push(`${ref} ${standing.profile.id} ${ms}`);
      if (stopsWait) abort.abort();
      else clock += ms;
    },
    async ended({ model, standing }, { reply: { failure } }) {
      const rests = failure?.reason && !['format', 'context_overflow', 'unknown'].includes(failure.reason);
      if (rests) resting.set(failure.perModel ? `${standing.profile.id} ${model.id}` : standing.profile.id, failure.reason);
    },
  });
  return { reply, asked, pauses, waits, failure: reply.failure as FailoverError | undefined };
}

const two = { a: ['p1', 'p2'], b: ['q'] };
const always = (end: Ending) => () => end;
const only = (which: string, end: Ending) => (ref: string, profile: string) => (`${ref} ${profile}`.startsWith(which) ? end : 'ok');

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

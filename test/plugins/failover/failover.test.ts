import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import agents from '../../../plugins/agents/index.ts';
import { AuthProfiles } from '../../../plugins/auth-profiles/contract.ts';
import authProfiles from '../../../plugins/auth-profiles/index.ts';
import { type Fault, type MockServer, startMock } from '../../../plugins/drill/mock-server.ts';
import { Events } from '../../../plugins/events/contract.ts';
import events from '../../../plugins/events/index.ts';
import type { FailoverError, Plan, ProbeLine } from '../../../plugins/failover/contract.ts';
import failover from '../../../plugins/failover/index.ts';
import { type Client, type Method, Methods } from '../../../plugins/gateway/contract.ts';
import { AskModel, Models, type ModelReply, RequestEnded, AdmitRequest, type ToolSpec } from '../../../plugins/models/contract.ts';
import modelsOpenai from '../../../plugins/models-openai/index.ts';
import models from '../../../plugins/models/index.ts';
import secrets from '../../../plugins/secrets/index.ts';
import store from '../../../plugins/store/index.ts';
import { Turn } from '../../../plugins/turns/contract.ts';
import { FilterPolicy, given, type Plugin, RegisterTools } from '../../../kernel/index.ts';
import { bootTest, plugin, type TestKernel } from '../../support/kernel.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

const bundled = [store, secrets, agents, events, models, modelsOpenai, authProfiles, failover];

interface Options {
  readonly fallbacks?: readonly string[];
  readonly without?: readonly string[];
  readonly more?: readonly Plugin[];
  readonly noTools?: boolean;
  readonly config?: object;
}

const auth = {
  profiles: { k1: { provider: 'a', mode: 'api_key', apiKey: 'key-1' }, k2: { provider: 'a', mode: 'api_key', apiKey: 'key-2' } },
  order: { a: ['k1', 'k2'] },
};

/** Two providers on one mock, the first with two keys: `a/1`, `a/2`, `b/1`. */
async function place({ fallbacks = ['b/1'], without = [], more = [], noTools = false, config = {} }: Options = {}) {
  const mock = await startMock();
  const block = (provider: string, ids: readonly string[], extra = {}) => ({
    baseUrl: mock.urlOf(provider),
    models: ids.map((id) => ({ id, ...extra })),
  });
  const t = await bootTest([...bundled.filter(({ name }) => !without.includes(name)), ...more], {
    agents: { defaults: { model: { primary: 'a/1', fallbacks } }, list: [{ id: 'main' }, { id: 'alone', model: { fallbacks: [] } }] },
    models: {
      providers: {
        a: block('a', ['1', '2']),
        b: { ...block('b', ['1'], noTools ? { compat: { supportsTools: false } } : {}), apiKey: 'key-b' },
      },
    },
    ...(without.includes('auth-profiles') ? {} : { auth }),
    ...config,
  });
  const seen = () => mock.seen.splice(0).map(({ model, key }) => `${model} ${key}`);
  return {
    t,
    mock,
    seen,
    async [Symbol.asyncDispose]() {
      await t[Symbol.asyncDispose]();
      await mock[Symbol.asyncDispose]();
    },
  }; // prettier-ignore
}

interface Ask {
  readonly session?: string;
  readonly agentId?: string;
  readonly modelAsked?: boolean;
  readonly signal?: AbortSignal;
  readonly ref?: string;
  readonly tools?: readonly ToolSpec[];
}

const ask = (
  { kernel }: TestKernel,
  { session = 's', agentId = 'main', modelAsked = false, signal, ref = 'a/1', tools = [] }: Ask = {},
): Promise<ModelReply> =>
  kernel.run(async (run) => {
    const model = await run.get(Models).resolve(run, ref);
    const turn: Turn = {
      runId: run.id,
      agentId,
      sessionKey: `agent:${agentId}:${session}`,
      sessionId: session,
      itemId: 'i',
      trigger: 'user',
      workspace: '/',
      model,
      modelAsked,
    };
    const own = run.as({ subject: { agent: agentId, provider: 'a', model: '1' }, values: [given(Turn, turn)] });
    const request = {
      model,
      system: '',
      messages: [{ role: 'user', content: 'hi', timestamp: 1 }] as const,
      tools,
      signal: signal ?? own.signal,
      sessionId: session,
    };
    return (await own.call(AskModel, { request, on: () => {} }))!;
  });
const told = (reply: ModelReply) =>
  reply.failure?.code ?? reply.message.content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('');
const fail = (mock: MockServer, faults: Readonly<Record<string, Fault>>) => {
  mock.fails = ({ model, key }) => faults[`${model} ${key}`] ?? faults[model];
};
const call = <T>(t: TestKernel, method: string, params: object = {}): Promise<T> =>
  t.kernel.run(
    async (run) => (await ((await run.call(Methods, {}))[method] as Method)(params as Record<string, unknown>, {} as Client, run)) as T,
  );

test('SPEC 7.1, 7.4: a limit moves on to the next key, then to the next model; after the rest the first is asked again (U138)', async () => {
  await using p = await place();
  fail(p.mock, { 'a/1 key-1': 'rate_limit' });
  expect([told(await ask(p.t)), p.seen()]).toEqual(['1 answers', ['a/1 key-1', 'a/1 key-2']]);
  expect([told(await ask(p.t)), p.seen()]).toEqual(['1 answers', ['a/1 key-2']]);
  fail(p.mock, { 'a/1': 'rate_limit' });
  expect((await ask(p.t)).message).toMatchObject({ provider: 'b', model: '1' });
  expect(p.seen()).toEqual(['a/1 key-2', 'b/1 key-b']);
  fail(p.mock, {});
  vi.setSystemTime(Date.now() + 30_000);
  expect([told(await ask(p.t)), p.seen()]).toEqual(['1 answers', ['a/1 key-1']]);
});

test('U133: the limit of one model leaves the key to the fallback of the same provider', async () => {
  await using p = await place({ fallbacks: ['a/2'] });
  fail(p.mock, { 'a/1': 'rate_limit' });
  expect((await ask(p.t)).message.model).toBe('2');
  expect(p.seen()).toEqual(['a/1 key-1', 'a/1 key-2', 'a/2 key-1']);
});

test('U139, U143: a server that does not answer is left after the deadline', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  await using p = await place({ config: { failover: { firstByteSeconds: 60 } } });
  fail(p.mock, { 'a/1': 'timeout' });
  const reply = ask(p.t);
  for (const asked of [1, 2]) {
    await expect.poll(() => p.mock.seen.length, { interval: 5 }).toBe(asked);
    await vi.advanceTimersByTimeAsync(72_000); // deadlines are up to a fifth longer, each time otherwise
  }
  expect((await reply).message.provider).toBe('b');
  expect(p.seen()).toEqual(['a/1 key-1', 'a/1 key-2', 'b/1 key-b']);
});

test('SPEC 7.8: a switch is told once, and the way back too; sessions do not hear of each other', async () => {
  await using p = await place();
  const heard: unknown[] = [];
  await p.t.kernel.run(
    (run) =>
      void run.get(Events).watch({}, ({ type, data, sessionKey }) => void (type === 'model_switched' && heard.push([sessionKey, data]))),
  );
  fail(p.mock, { a: 'auth', 'a/1': 'auth' });
  await ask(p.t);
  await ask(p.t);
  await ask(p.t, { session: 'other' });
  fail(p.mock, {});
  vi.setSystemTime(Date.now() + 300_000);
  await ask(p.t);
  await ask(p.t);
  const away = { from: 'a/1', to: 'b/1', isBack: false, reason: 'auth' };
  expect(heard).toEqual([
    ['agent:main:s', away],
    ['agent:main:other', away],
    ['agent:main:s', { from: 'b/1', to: 'a/1', isBack: true }],
  ]);
});

test('SPEC 7.8: a model that was asked for by name is not replaced; its keys still rotate', async () => {
  await using p = await place();
  fail(p.mock, { 'a/1': 'rate_limit' });
  const { failure } = await ask(p.t, { modelAsked: true });
  expect(failure).toMatchObject({ code: 'FAILOVER_EXHAUSTED', reason: 'rate_limit', status: 429 });
  expect(p.seen()).toEqual(['a/1 key-1', 'a/1 key-2']);
});

test('SPEC 7.4: an agent’s own empty chain replaces that of the defaults', async () => {
  await using p = await place();
  fail(p.mock, { 'a/1': 'rate_limit' });
  expect((await ask(p.t, { agentId: 'alone' })).failure?.code).toBe('FAILOVER_EXHAUSTED');
  expect(p.seen()).toEqual(['a/1 key-1', 'a/1 key-2']);
});

test('SPEC 7.4: one error names each attempt with model, key, reason and time, and no secret', async () => {
  await using p = await place();
  fail(p.mock, { 'a/1': 'rate_limit', 'b/1': 'billing' });
  const { failure } = await ask(p.t);
  expect(failure?.message).toMatch(
    /^no model answered: a\/1 as k1: rate_limit after \d\.\d s \(HTTP 429: Rate limit reached\); a\/1 as k2: rate_limit .*; b\/1 as b:default: billing after \d\.\d s \(HTTP 402: Insufficient balance\)$/,
  );
  expect((failure as FailoverError).attempts).toHaveLength(3);
  expect(JSON.stringify([failure, p.t.records])).not.toContain('key-');
});

test('SPEC 7.8: with everything at rest, the soonest is tried', async () => {
  await using p = await place();
  fail(p.mock, { 'a/1': 'auth', 'b/1': 'billing' });
  await ask(p.t);
  p.seen();
  fail(p.mock, {});
  expect([told(await ask(p.t)), p.seen()]).toEqual(['1 answers', ['a/1 key-1']]);
});

test('a stop ends an ask at once and makes nobody rest', async () => {
  await using p = await place();
  fail(p.mock, { 'a/1': 'timeout' });
  const stop = new AbortController();
  const asked = ask(p.t, { signal: stop.signal });
  await expect.poll(() => p.mock.seen.length, { interval: 5 }).toBe(1);
  stop.abort();
  expect((await asked).failure).toMatchObject({ code: 'MODEL_ABORTED' });
  expect((await call<Plan>(p.t, 'models.explain')).candidates[0]?.profiles.map(({ usable, errors }) => [usable, errors])).toEqual([
    [true, 0],
    [true, 0],
  ]); // prettier-ignore
});

test.for<readonly [string, Options, number]>([
  ['takes tools', {}, 1],
  ['takes none', { noTools: true }, 0],
  [
    'policy gives none',
    {
      more: [
        plugin('policy', (ctx) => ctx.tap(FilterPolicy, (offer, run) => (run.subject.provider === 'b' ? { ...offer, tools: [] } : offer))),
      ],
    },
    0,
  ],
])(
  'SPEC 7.5: a model that %s gets what is right for it, at its own attempt; each attempt is admitted and counted',
  async ([, options, count]) => {
    const sent: unknown[] = [];
    const ended: unknown[] = [];
    const tool = { name: 'read', description: 'r', parameters: { type: 'object' }, execute: () => ({ content: [] }) } as const;
    const meter = plugin('meter', (ctx) => {
      ctx.tap(RegisterTools, (tools) => [...tools, tool]);
      ctx.tap(AdmitRequest, ({ model, tools }) => void sent.push([`${model.provider}/${model.id}`, tools.length]));
      ctx.tap(RequestEnded, ({ reply }) => void ended.push(reply.message.usage.input));
    });
    await using p = await place({ ...options, fallbacks: ['b/1'], more: [meter, ...(options.more ?? [])] });
    fail(p.mock, { 'a/1': 'overloaded' });
    await ask(p.t, { tools: [tool] });
    expect(sent).toEqual([
      ['a/1', 1],
      ['a/1', 1],
      ['b/1', count],
    ]); // prettier-ignore
    expect(ended).toEqual([0, 0, 10]);
  },
);

test('a request that a plugin does not admit goes nowhere else', async () => {
  const meter = plugin('meter', (ctx) => ctx.tap(AdmitRequest, () => ({ code: 'TOO_DEAR', message: 'too dear' })));
  await using p = await place({ more: [meter] });
  expect([(await ask(p.t)).failure?.code, p.seen()]).toEqual(['TOO_DEAR', []]);
});

test('explain says what the next ask does, from the same code', async () => {
  await using p = await place({ fallbacks: ['nope/x', 'b/1'] });
  const next = async (params: object = {}) => {
    const { next: found } = await call<Plan>(p.t, 'models.explain', params);
    return `${found?.model} ${found?.profile}`;
  };
  const asked = async () => {
    await ask(p.t);
    return p.seen();
  };
  expect([await next(), await asked()]).toEqual(['a/1 k1', ['a/1 key-1']]);
  fail(p.mock, { 'a/1': 'auth', 'b/1': 'billing' });
  await asked();
  expect([await next(), (await asked())[0]]).toEqual(['a/1 k1', 'a/1 key-1']);
  const plan = await call<Plan>(p.t, 'models.explain');
  expect(plan.next?.why).toContain('all of the chain rests');
  expect(plan.candidates[1]?.problem).toContain('no model "nope/x"');
  expect(await next({ model: 'b/1' })).toBe('b/1 b:default');
  await expect(call(p.t, 'models.explain', { agentId: 'man' })).rejects.toMatchObject({
    code: 'AGENT_UNKNOWN',
    message: expect.stringContaining('did you mean "main"'),
  });
});

test('the doctor’s probe asks each key of each model, and what it finds counts', async () => {
  await using p = await place();
  fail(p.mock, { 'a/1 key-1': 'auth' });
  const { probes } = await call<{ probes: readonly ProbeLine[] }>(p.t, 'models.probe');
  expect(probes.map(({ model, profile, ok, reason }) => [model, profile, ok, reason])).toEqual([
    ['a/1', 'k1', false, 'auth'],
    ['a/1', 'k2', true, undefined],
    ['b/1', 'b:default', true, undefined],
  ]);
  p.seen();
  expect([told(await ask(p.t)), p.seen()]).toEqual(['1 answers', ['a/1 key-2']]);
});

test('without auth-profiles the provider’s own key is the one there is', async () => {
  await using p = await place({ without: ['auth-profiles'] });
  fail(p.mock, { 'a/1': 'overloaded' });
  expect((await ask(p.t)).message.provider).toBe('b');
  expect(p.seen()).toEqual(['a/1 ', 'b/1 key-b']);
});

test('U148: a disk that is full is no provider’s fault', async () => {
  await using p = await place();
  const { Store } = await import('../../../plugins/store/contract.ts');
  await p.t.kernel.run((run) => run.get(Store).tx((open) => open.run('DROP TABLE auth_rests')));
  fail(p.mock, { 'a/1 key-1': 'rate_limit' });
  expect(told(await ask(p.t))).toBe('1 answers');
  expect(p.t.records.some(({ message }) => message.includes('could not be kept'))).toBe(true);
});

test('a request past the way of turns, such as a summary, is billed to the profile that a turn would begin with', async () => {
  await using p = await place();
  await p.t.kernel.run(async (run) => {
    const model = await run.get(Models).resolve(run, 'a/1');
    await run.get(Models).complete(run, { model, system: '', messages: [], tools: [], signal: run.signal }, () => {});
  });
  expect(p.seen()).toEqual(['a/1 key-1']);
});

test('a stop ends an ask that waits for its token', async () => {
  const stop = new AbortController();
  const slow = plugin(
    'slow',
    (ctx) => {
      ctx.provide(AuthProfiles, {
        standing: () => [{ profile: { id: 'oa', provider: 'a', mode: 'oauth', origin: 'config' }, usable: true, errors: 0, why: 'test' }],
        credential: () => (stop.abort(), new Promise(() => {})),
        report: async () => false,
      });
    },
    { provides: [AuthProfiles] },
  ); // prettier-ignore
  await using p = await place({ without: ['auth-profiles'], more: [slow] });
  expect((await ask(p.t, { signal: stop.signal })).failure?.code).toBe('MODEL_ABORTED');
  expect(p.seen()).toEqual([]);
});

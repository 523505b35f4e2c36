import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Approver, given, type Plugin } from '../../../kernel/index.ts';
import agents from '../../../plugins/agents/index.ts';
import { RootOf, type BudgetLine, type BudgetStatus } from '../../../plugins/budget/contract.ts';
import { Approvals, type Question } from '../../../plugins/approvals/contract.ts';
import approvals from '../../../plugins/approvals/index.ts';
import budget from '../../../plugins/budget/index.ts';
import { Events } from '../../../plugins/events/contract.ts';
import events from '../../../plugins/events/index.ts';
import failover from '../../../plugins/failover/index.ts';
import { type Client, type Method, Methods } from '../../../plugins/gateway/contract.ts';
import { AdapterFor, AskModel, attemptOf, type ModelReply, Models } from '../../../plugins/models/contract.ts';
import models from '../../../plugins/models/index.ts';
import secrets from '../../../plugins/secrets/index.ts';
import { Store } from '../../../plugins/store/contract.ts';
import store from '../../../plugins/store/index.ts';
import { Turn } from '../../../plugins/turns/contract.ts';
import { bootTest, plugin, type TestKernel } from '../../support/kernel.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-30T12:00:00Z') }));
afterEach(() => void vi.useRealTimers());

interface Options {
  readonly budget?: object;
  readonly defaults?: object;
  readonly more?: readonly Plugin[];
  /** Tokens that each answer takes, a tenth of them output. */
  readonly tokens?: number;
  readonly home?: string;
  readonly gate?: Promise<unknown>;
}

/** Models `dear/1`, `cheap/1`, and `odd/1` whose price nobody knows; the first costs 10 dollars a million tokens. */
async function place({ budget: config = {}, defaults = {}, more = [], tokens = 400, home, gate }: Options = {}) {
  const asked: string[] = [];
  const fake = plugin('fake', (ctx) =>
    ctx.tap(
      AdapterFor,
      (api) => ({
        api,
        async complete({ model }) {
          asked.push(`${model.provider}/${model.id}`);
          await gate;
          const output = tokens / 10;
          const usage = { input: tokens - output, output, cacheRead: 0, cacheWrite: 0, totalTokens: tokens };
          return attemptOf(model, { content: [{ type: 'text', text: 'yes' }], usage });
        },
      }),
      -1,
    ),
  );
  const block = (cost?: object) => ({ baseUrl: 'http://127.0.0.1:9/v1', models: [{ id: '1', ...(cost && { cost }) }] });
  const flat = (usd: number) => ({ input: usd, output: usd, cacheRead: usd, cacheWrite: usd });
  const t = await bootTest(
    [store, secrets, agents, events, models, failover, budget, fake, ...more],
    {
      agents: { defaults: { model: 'dear/1', ...defaults }, list: [{ id: 'main', default: true }, { id: 'other' }] },
      models: { providers: { dear: block(flat(10)), cheap: block(flat(0)), odd: block() } },
      budget: { timeZone: 'UTC', ...config },
    },
    home === undefined ? {} : { home },
  );
  return { t, asked, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() };
}

interface Ask {
  readonly session?: string;
  readonly agentId?: string;
  readonly ref?: string;
  readonly modelAsked?: boolean;
  readonly turnless?: boolean;
}

const ask = ({ kernel }: TestKernel, { session = 's', agentId = 'main', ref = 'dear/1', modelAsked = false, turnless = false }: Ask = {}) =>
  kernel.run(async (run): Promise<ModelReply> => {
    const model = await run.get(Models).resolve(run, ref);
    const sessionKey = `agent:${agentId}:${session}`;
    const turn: Turn = {
      runId: run.id,
      agentId,
      sessionKey,
      sessionId: session,
      itemId: 'i',
      trigger: 'user',
      workspace: '/',
      model,
      ...(modelAsked && { modelAsked }),
    };
    const own = turnless ? run : run.as({ subject: { agent: agentId }, values: [given(Turn, turn)] });
    const messages = [{ role: 'user', content: 'hi', timestamp: 1 }] as const;
    const request = { model, system: '', messages, tools: [], signal: own.signal, sessionId: session };
    return (await own.call(AskModel, { request, on: () => {} }))!;
  });
const told = ({ failure, message }: ModelReply) => failure?.code ?? `${message.provider}/${message.model}`;
const call = <T>(t: TestKernel, method: string, params: object = {}, sender: Client['sender'] = 'owner'): Promise<T> =>
  t.kernel.run(
    async (run) =>
      (await ((await run.call(Methods, {}))[method] as Method)({ ...params }, { kind: 'terminal', sender } as Client, run)) as T,
  );
const lineOf = async (t: TestKernel, kind: BudgetLine['kind'], name?: string, params: object = {}) =>
  (await call<BudgetStatus>(t, 'budget.status', params)).lines.find(
    (line) => line.kind === kind && (name === undefined || line.name === name),
  );

test('SPEC 7.10: past the limit of a day a request is refused in one line with limit, spent and place; the next day it passes (U248)', async () => {
  await using p = await place({ budget: { day: { tokens: 1000 } } });
  expect([told(await ask(p.t)), told(await ask(p.t, { session: 'b', agentId: 'other' }))]).toEqual(['dear/1', 'dear/1']);
  const { failure } = await ask(p.t);
  expect(failure).toMatchObject({ code: 'BUDGET_EXCEEDED', limit: 'budget.day.tokens' });
  expect(failure?.reason).toBeUndefined();
  expect(failure?.message).toMatch(
    /^the budget of today has no room for this request: 800 of 1,000 tokens spent, at least \d+ needed; raise budget\.day\.tokens, or wait for the next day$/,
  );
  expect(p.asked).toHaveLength(2);
  vi.setSystemTime(Date.parse('2026-12-01T00:00:01Z'));
  expect(told(await ask(p.t))).toBe('dear/1');
  expect(await lineOf(p.t, 'day')).toMatchObject({ name: '2026-12-01', tokens: { spent: 400, held: 0, limit: 1000 }, requests: 1 });
});

test('a day begins at midnight of its time zone', async () => {
  await using p = await place({ budget: { day: { tokens: 600 }, timeZone: 'Asia/Tokyo' } });
  vi.setSystemTime(Date.parse('2026-11-30T14:59:59Z'));
  expect([told(await ask(p.t)), told(await ask(p.t))]).toEqual(['dear/1', 'BUDGET_EXCEEDED']);
  vi.setSystemTime(Date.parse('2026-11-30T15:00:00Z'));
  expect(told(await ask(p.t))).toBe('dear/1');
  expect(await call<BudgetStatus>(p.t, 'budget.status')).toMatchObject({ day: '2026-12-01', timeZone: 'Asia/Tokyo' });
});

test('an unknown time zone is a fault of the config', async () => {
  await expect(place({ budget: { timeZone: 'Mars/Base' } })).rejects.toMatchObject({
    message: expect.stringContaining('"Mars/Base" is no time zone'),
  });
});

test.each([
  ['a session', { budget: { session: { tokens: 600 } } }, { session: 'b' }, 'budget.session.tokens'],
  [
    'an agent, by its defaults',
    { defaults: { budget: { day: { tokens: 600 } } } },
    { agentId: 'other' },
    'agents.defaults.budget.day.tokens',
  ],
  ['an agent altogether', { defaults: { budget: { total: { usd: 0.006 } } } }, { agentId: 'other' }, 'agents.defaults.budget.total.usd'],
] as const)('SPEC 7.10: a limit of %s holds for that one alone', async (_what, options, elsewhere, path) => {
  await using p = await place(options);
  expect(told(await ask(p.t))).toBe('dear/1');
  expect((await ask(p.t)).failure).toMatchObject({ code: 'BUDGET_EXCEEDED', limit: path });
  expect(told(await ask(p.t, elsewhere))).toBe('dear/1');
});

test('SPEC 7.10: children count for the turn and the session that began them', async () => {
  const root = { runId: 'root', sessionKey: 'agent:main:parent' };
  const subagents = plugin('subagents', (ctx) =>
    ctx.tap(RootOf, ({ sessionKey }) => (sessionKey.includes('child') || sessionKey.includes('parent') ? root : undefined)),
  );
  await using p = await place({ budget: { run: { tokens: 1000 }, session: { tokens: 100_000 } }, more: [subagents] });
  expect([told(await ask(p.t, { session: 'parent' })), told(await ask(p.t, { session: 'child-1', agentId: 'other' }))]).toEqual([
    'dear/1',
    'dear/1',
  ]);
  expect((await ask(p.t, { session: 'child-2' })).failure).toMatchObject({ limit: 'budget.run.tokens' });
  expect(told(await ask(p.t, { session: 'alone' }))).toBe('dear/1');
  const session = async (name: string) => (await lineOf(p.t, 'session', name))?.tokens.spent;
  expect([await session('agent:main:parent'), await session('agent:other:child-1')]).toEqual([800, 400]);
});

test('a request outside a turn, such as a probe, counts for the day', async () => {
  await using p = await place({ budget: { day: { tokens: 600 } } });
  expect([told(await ask(p.t, { turnless: true })), told(await ask(p.t))]).toEqual(['dear/1', 'BUDGET_EXCEEDED']);
});

test('SPEC 7.10: requests at the same time do not overspend together', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await using p = await place({ budget: { day: { tokens: 2000 }, reserveOutputTokens: 600 }, gate: promise });
  const all = Array.from({ length: 8 }, (_, i) => ask(p.t, { session: `s${i}` }));
  await vi.waitUntil(() => p.asked.length === 3);
  resolve();
  const ends = (await Promise.all(all)).map(told);
  expect(ends.filter((end) => end === 'BUDGET_EXCEEDED')).toHaveLength(5);
  expect(await lineOf(p.t, 'day')).toMatchObject({ tokens: { spent: 1200, held: 0 } });
});

test('SPEC 7.10: a gateway that died in mid-request counts it as reserved, and holds nothing back', async () => {
  const hung = Promise.withResolvers<void>();
  const p = await place({ budget: { day: { tokens: 1000 } }, gate: hung.promise });
  const dead = ask(p.t);
  await vi.waitUntil(() => p.asked.length === 1);
  const home = await mkdtemp(join(tmpdir(), 'instar-budget-'));
  for (const file of await readdir(p.t.home))
    if (file.includes('.db') || file.includes('sqlite')) await copyFile(join(p.t.home, file), join(home, file));
  {
    await using again = await place({ budget: { day: { tokens: 1000 } }, home });
    const line = await lineOf(again.t, 'day');
    expect(line).toMatchObject({ tokens: { spent: 1000, held: 0 }, requests: 1 });
    expect(told(await ask(again.t))).toBe('BUDGET_EXCEEDED');
  }
  hung.resolve();
  await dead;
  await p[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

test('a model without a known price passes a limit of money, its tokens count, and the log says so once', async () => {
  await using p = await place({ budget: { day: { usd: 0.004, tokens: 900 } } });
  for (const end of ['odd/1', 'odd/1', 'BUDGET_EXCEEDED']) expect(told(await ask(p.t, { ref: 'odd/1' }))).toBe(end);
  expect(await lineOf(p.t, 'day')).toMatchObject({ tokens: { spent: 800 }, usd: { spent: 0 }, unpriced: 800 });
  const warned = p.t.records.filter(({ message }) => message.includes('the price of odd/1 is unknown'));
  expect(warned.map(({ message }) => message)).toEqual([
    'the price of odd/1 is unknown: budget.day.usd does not hold for it, its tokens count; set budget.prices["odd/1"]',
  ]);
});

test('a price in budget.prices wins over that of the model', async () => {
  await using p = await place({ budget: { prices: { 'dear/1': { input: 1, output: 1 } } } });
  await ask(p.t);
  expect((await lineOf(p.t, 'day'))?.usd.spent).toBe(0.0004);
});

test('SPEC 7.10: near a limit the cheaper model answers, which is told once; on the next day the first is back', async () => {
  await using p = await place({ budget: { day: { usd: 0.012 }, onLimit: 'downgrade', downgradeTo: 'cheap/1' } });
  const switches: unknown[] = [];
  await p.t.kernel.run((run) => run.get(Events).watch({}, ({ type, data }) => void (type === 'model_switched' && switches.push(data))));
  for (const end of ['dear/1', 'dear/1', 'cheap/1', 'cheap/1']) expect(told(await ask(p.t))).toBe(end);
  expect(switches).toEqual([{ from: 'dear/1', to: 'cheap/1', isBack: false, reason: 'budget' }]);
  expect(told(await ask(p.t, { session: 'named', modelAsked: true }))).toBe('dear/1');
  expect((await ask(p.t, { session: 'named', modelAsked: true })).failure?.message).toContain('has no room');
  vi.setSystemTime(Date.parse('2026-12-01T08:00:00Z'));
  expect(told(await ask(p.t))).toBe('dear/1');
  expect(switches.slice(1)).toEqual([{ from: 'cheap/1', to: 'dear/1', isBack: true }]);
});

test('SPEC 7.10: a person may let a turn go on; a no is part of the refusal', async () => {
  const said = [
    { allowed: true, why: 'yes' },
    { allowed: false, why: 'page said no' },
  ];
  const questions: string[] = [];
  const person = plugin(
    'person',
    (ctx) => ctx.provide(Approver, { ask: async (_request, what) => (questions.push(what), said[questions.length - 1]!) }),
    { provides: [Approver] },
  );
  await using p = await place({ budget: { day: { tokens: 600 }, onLimit: 'ask' }, more: [person] });
  expect([told(await ask(p.t)), told(await ask(p.t))]).toEqual(['dear/1', 'dear/1']);
  expect((await ask(p.t)).failure?.message).toContain('needed; page said no; raise budget.day.tokens');
  expect(questions[0]).toMatch(
    /^go on beyond budget\.day\.tokens: the budget of today has no room for this request: 400 of 600 tokens spent/,
  );
});

test('asked at the page, "always" lets everybody go on, and the question says what stands', async () => {
  await using p = await place({ budget: { day: { tokens: 600 }, onLimit: 'ask' }, more: [approvals] });
  await ask(p.t);
  expect((await ask(p.t)).failure?.message).toContain('nobody is here to do it');
  const seen: Question[] = [];
  await p.t.kernel.run((run) => {
    const desk = run.get(Approvals);
    desk.attend('page', {
      show(question) {
        seen.push(question);
        desk.answer(question.id, 'always', 'page');
      },
    });
  });
  for (const agentId of ['main', 'other']) expect(told(await ask(p.t, { agentId }))).toBe('dear/1');
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({ tool: 'budget', agent: 'main', always: ['everybody goes on beyond this limit, for 24 hours'] });
  expect(seen[0]?.what).toContain('400 of 600 tokens spent');
});

test('a reload in mid-request loses nothing and leaves nothing reserved', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await using p = await place({ budget: { day: { tokens: 5000 } }, gate: promise });
  const asked = ask(p.t);
  await vi.waitUntil(() => p.asked.length === 1);
  await p.t.reload('budget');
  expect(await lineOf(p.t, 'day')).toMatchObject({ requests: 0, tokens: { spent: 0, held: expect.any(Number) } });
  resolve();
  await asked;
  expect(await lineOf(p.t, 'day')).toMatchObject({ requests: 1, tokens: { spent: 400, held: 0 } });
});

test('a full disk at the end of a request throws no answer away, and what it took is written once there is room', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await using p = await place({ budget: { day: { tokens: 5000 } }, gate: promise });
  const asked = ask(p.t);
  await vi.waitUntil(() => p.asked.length === 1);
  const rows = await p.t.kernel.run((run) => run.get(Store));
  const full = vi.spyOn(rows, 'tx').mockRejectedValueOnce(new Error('STORE_UNUSABLE'));
  resolve();
  expect(told(await asked)).toBe('dear/1');
  expect(full).toHaveBeenCalled();
  await vi.waitUntil(async () => (await lineOf(p.t, 'day'))?.tokens.held === 0);
  expect(await lineOf(p.t, 'day')).toMatchObject({ requests: 1, tokens: { spent: 400 } });
});

test('a store that cannot reserve stops a request that has a limit, and no other', async () => {
  for (const [limits, end] of [
    [{ day: { tokens: 5000 } }, 'MODEL_NOT_ADMITTED'],
    [{}, 'dear/1'],
  ] as const) {
    await using p = await place({ budget: limits });
    const rows = await p.t.kernel.run((run) => run.get(Store));
    vi.spyOn(rows, 'tx').mockRejectedValueOnce(new Error('full'));
    expect(told(await ask(p.t))).toBe(end);
  }
});

test('without anybody to ask, ask is refuse', async () => {
  await using p = await place({ budget: { day: { tokens: 600 }, onLimit: 'ask' } });
  await ask(p.t);
  expect((await ask(p.t)).failure?.message).toContain('"approvals" is switched off');
});

test('only the owner counts anew from zero, and a turn is none', async () => {
  await using p = await place({ defaults: { budget: { day: { tokens: 600 } } } });
  await ask(p.t);
  await ask(p.t, { agentId: 'other' });
  await expect(call(p.t, 'budget.reset', {}, 'known')).rejects.toMatchObject({ code: 'BUDGET_OWNER', status: 403 });
  await expect(call(p.t, 'budget.reset', { agentId: 'mian' })).rejects.toMatchObject({ code: 'AGENT_UNKNOWN' });
  await expect(call(p.t, 'budget.status', { agentId: 7 })).rejects.toMatchObject({ code: 'BUDGET_PARAMS' });
  const inTurn = p.t.kernel.run(async (run) => {
    const own = run.as({ values: [given(Turn, { runId: run.id } as Turn)] });
    return ((await own.call(Methods, {}))['budget.reset'] as Method)({}, { kind: 'terminal', sender: 'owner' } as Client, own);
  });
  await expect(inTurn).rejects.toMatchObject({ code: 'BUDGET_OWNER' });
  await call(p.t, 'budget.reset', { agentId: 'main' });
  expect([told(await ask(p.t)), told(await ask(p.t, { agentId: 'other' }))]).toEqual(['dear/1', 'BUDGET_EXCEEDED']);
  await call(p.t, 'budget.reset');
  expect(await lineOf(p.t, 'day')).toMatchObject({ requests: 0, tokens: { spent: 0 }, usd: { spent: 0 } });
});

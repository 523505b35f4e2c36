import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { CommandHost } from '../../../plugins/cli/contract.ts';
import { run as auth } from '../../../plugins/failover/commands/auth.ts';
import { run as explain } from '../../../plugins/failover/commands/explain.ts';

let printed: string[] = [];
beforeEach(() => {
  printed = [];
  for (const method of ['log', 'error'] as const) vi.spyOn(console, method).mockImplementation((line: string) => void printed.push(line));
});
afterEach(() => void vi.restoreAllMocks().useRealTimers());

const asked: [string, unknown][] = [];
/** A gateway that answers as it is told. */
const host = (answers: Readonly<Record<string, unknown>>) =>
  ({ ask: async (method: string, params: unknown) => (asked.push([method, params]), answers[method]) }) as unknown as CommandHost;
const line = (id: string, provider: string, more: object = {}) => ({
  id,
  provider,
  mode: 'api_key',
  origin: 'config',
  state: 'ready',
  why: 'the only profile',
  errors: 0,
  models: [],
  ...more,
});

test('auth clear takes a profile, a provider, or nothing', async () => {
  const answers = { 'auth.list': { profiles: [line('work', 'a')] }, 'auth.clear': { cleared: 2 } };
  asked.length = 0;
  for (const words of [['work'], ['a'], []]) await auth(['clear', ...words], host(answers));
  expect(asked.filter(([method]) => method === 'auth.clear').map(([, params]) => params)).toEqual([{ id: 'work' }, { provider: 'a' }, {}]);
});

test('auth list shows what each waits for', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const resting = line('p', 'a', { state: 'resting', readyAt: Date.now() + 120_000, why: 'rests altogether after auth, error 3' });
  await auth(
    ['list'],
    host({
      'auth.list': { profiles: [resting, line('q', 'a', { models: [{ model: 'm', readyAt: Date.now() + 5_000, reason: 'rate_limit' }] })] },
    }),
  );
  expect(printed[0]?.replaceAll(/\u001b\[\d+m/g, '')).toMatch(
    /^ {2}a\n {4}p {2}ready in 2 min {2}api_key, auth\.profiles; rests altogether after auth, error 3\n {4}q {2}ready {2}api_key, auth\.profiles; with m: ready in 5\.0 s \(rate_limit\)$/,
  );
});

test('auth add names a variable with --env, and never takes a key as an argument', async () => {
  asked.length = 0;
  await auth(['add', 'a', '--env', 'MY_KEY', '--profile', 'work'], host({ 'auth.add': { id: 'work' } }));
  expect(asked).toEqual([['auth.add', { provider: 'a', mode: 'api_key', secret: { source: 'env', id: 'MY_KEY' }, id: 'work' }]]);
  await expect(auth(['add', 'a', '--key', 'sk-1'], host({}))).rejects.toMatchObject({ code: 'ERR_PARSE_ARGS_UNKNOWN_OPTION' });
});

test('explain exits with 1 where nothing can be asked', async () => {
  const plan = {
    agentId: 'main',
    wanted: { model: 'a/1', why: 'w' },
    candidates: [{ model: 'a/1', why: 'w', problem: 'gone', profiles: [] }],
  };
  expect(await explain([], host({ 'models.explain': plan }))).toBe(1);
  expect(printed[0]).toContain('nothing can be asked');
  const next = { model: 'a/1', profile: 'p', why: 'first' };
  expect(await explain(['--json', '--agent', 'x', '--session', 'main'], host({ 'models.explain': { ...plan, next } }))).toBe(0);
});

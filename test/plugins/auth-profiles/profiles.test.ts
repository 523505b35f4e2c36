import { mkdtempDisposable } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type AuthLine, AuthProfiles } from '../../../plugins/auth-profiles/contract.ts';
import authProfiles from '../../../plugins/auth-profiles/index.ts';
import { type Client, type Method, Methods } from '../../../plugins/gateway/contract.ts';
import type { FailureReason, ModelFailure } from '../../../plugins/models/contract.ts';
import secrets from '../../../plugins/secrets/index.ts';
import store from '../../../plugins/store/index.ts';
import { bootTest, type TestKernel, type TestOptions } from '../../support/kernel.ts';

const start = Date.UTC(2026, 10, 30);
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: start }));
afterEach(() => void vi.useRealTimers());
const later = (ms: number) => vi.setSystemTime(Date.now() + ms);

const keys = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { provider: 'a', mode: 'api_key', apiKey: `key-of-${name}` }]));
const boot = (auth: object = {}, options: TestOptions = {}) => bootTest([store, secrets, authProfiles], { auth }, options);

const order = (t: TestKernel, model = 'm', sessionId?: string) =>
  t.kernel.run((run) =>
    run
      .get(AuthProfiles)
      .standing(run, { provider: 'a', model, sessionId })
      .map(({ profile, usable }) => (usable ? profile.id : `(${profile.id})`)),
  );
const report = (
  t: TestKernel,
  profile: string,
  reason?: FailureReason,
  more: Partial<ModelFailure> & { sessionId?: string; model?: string } = {},
) =>
  t.kernel.run((run) => {
    const { sessionId, model = 'm', ...facts } = more;
    const failure = reason && { code: 'MODEL_HTTP', message: 'x', reason, ...facts };
    return run
      .get(AuthProfiles)
      .report(run, { profile, provider: 'a', origin: 'config', model, sessionId, beganAt: Date.now(), ...(failure && { failure }) });
  });
const call = <T>(t: TestKernel, method: string, params: object = {}): Promise<T> =>
  t.kernel.run(async (run) => {
    const methods = await run.call(Methods, {});
    return (await (methods[method] as Method)(params as Record<string, unknown>, {} as Client, run)) as T;
  });
const secretOf = (t: TestKernel, id: string) =>
  t.kernel.run(async (run) => {
    const found = run
      .get(AuthProfiles)
      .standing(run, { provider: 'a', model: 'm' })
      .find(({ profile }) => profile.id === id);
    return (await run.get(AuthProfiles).credential(run, found!.profile))?.apiKey;
  });

test('SPEC 7.1: OAuth before tokens before keys; of one kind the least recently used', async () => {
  await using t = await boot({
    profiles: {
      ...keys('k1', 'k2'),
      tok: { provider: 'a', mode: 'token', token: 't' },
      oa: { provider: 'a', mode: 'oauth' },
      other: { provider: 'b', mode: 'api_key', apiKey: 'x' },
    },
  });
  await call(t, 'auth.add', { provider: 'a', id: 'oa', mode: 'oauth', secret: { access: 'x' } });
  expect(await order(t)).toEqual(['oa', 'tok', 'k1', 'k2']);
  await report(t, 'k1', undefined, { sessionId: 's1' });
  expect(await order(t)).toEqual(['oa', 'tok', 'k2', 'k1']);
});

test('SPEC 7.1: an explicit order comes first, and only what it names is used', async () => {
  await using t = await boot({ profiles: keys('k1', 'k2', 'k3'), order: { a: ['k3', 'k1', 'gone'] } });
  expect(await order(t)).toEqual(['k3', 'k1', '(gone)']);
  await report(t, 'k3', 'rate_limit');
  expect(await order(t)).toEqual(['k1', '(k3)', '(gone)']);
  await expect(call(t, 'auth.order', { provider: 'a', ids: ['k2'] })).rejects.toMatchObject({ code: 'AUTH_ORDER_CONFIG' });
});

test('SPEC 7.1: a session keeps its profile, and comes back to it after its rest; a refused key holds nobody', async () => {
  await using t = await boot({ profiles: keys('k1', 'k2') });
  await report(t, 'k1', undefined, { sessionId: 's' });
  later(1);
  await report(t, 'k2', undefined, { sessionId: 'other' });
  expect([await order(t, 'm', 's'), await order(t, 'm', 'other'), await order(t)]).toEqual([
    ['k1', 'k2'],
    ['k2', 'k1'],
    ['k1', 'k2'],
  ]);
  await report(t, 'k2', 'rate_limit', { sessionId: 'other' });
  expect(await order(t, 'm', 'other')).toEqual(['k1', '(k2)']);
  later(30_000);
  expect(await order(t, 'm', 'other')).toEqual(['k2', 'k1']);
  await report(t, 'k2', 'auth', { sessionId: 'other' });
  later(300_000);
  expect(await order(t, 'm', 'other')).toEqual(['k1', 'k2']); // U147: the pin went with the refusal
});

test.for<readonly [readonly FailureReason[], readonly number[]]>([
  [
    ['rate_limit', 'rate_limit', 'rate_limit', 'rate_limit'],
    [30, 60, 300, 300],
  ],
  [
    ['auth', 'timeout', 'overloaded'],
    [30, 60, 300],
  ],
  [
    ['billing', 'billing', 'billing', 'billing'],
    [18_000, 36_000, 72_000, 86_400],
  ],
])('SPEC 7.1, 7.2: after %j a profile rests %j seconds, exactly', async ([reasons, seconds]) => {
  await using t = await boot({ profiles: keys('k1') });
  for (const [i, reason] of reasons.entries()) {
    await report(t, 'k1', reason);
    later(seconds[i]! * 1000 - 1);
    expect(await order(t)).toEqual(['(k1)']);
    later(1);
    expect(await order(t)).toEqual(['k1']);
  }
  await report(t, 'k1');
  await report(t, 'k1', 'rate_limit');
  later(30_000);
  expect(await order(t)).toEqual(['k1']); // a success forgets the errors
});

test('U133: where the error is the model’s, other models keep the profile', async () => {
  await using t = await boot({ profiles: keys('k1') });
  await report(t, 'k1', 'rate_limit', { perModel: true });
  expect([await order(t, 'm'), await order(t, 'n')]).toEqual([['(k1)'], ['k1']]);
  await report(t, 'k1', 'auth');
  expect([await order(t, 'm'), await order(t, 'n')]).toEqual([['(k1)'], ['(k1)']]);
});

test('SPEC 7.9: rests are shared by sessions and survive a restart, pins and added keys too', async () => {
  await using home = await mkdtempDisposable(join(tmpdir(), 'instar-auth-'));
  {
    await using t = await boot({ profiles: keys('k1', 'k2') }, { home: home.path });
    await report(t, 'k1', 'billing', { sessionId: 's' });
    await report(t, 'k2', undefined, { sessionId: 's' });
    expect(await call(t, 'auth.add', { provider: 'a', secret: 'added-key' })).toEqual({ id: 'a:default', notes: [] });
  }
  await using t = await boot({ profiles: keys('k1', 'k2') }, { home: home.path });
  expect(await order(t, 'm', 's')).toEqual(['k2', 'a:default', '(k1)']);
  await t.reload('auth-profiles');
  expect(await order(t, 'm', 'new')).toEqual(['a:default', 'k2', '(k1)']);
  expect(await secretOf(t, 'a:default')).toBe('added-key');
  expect(await call(t, 'auth.clear', { id: 'k1' })).toEqual({ cleared: 1 });
  expect(await order(t)).toContain('k1');
});

test('a provider without profiles has one all the same, whose key the models plugin finds', async () => {
  await using t = await boot();
  expect(await order(t)).toEqual(['a:default']);
  expect(await secretOf(t, 'a:default')).toBeUndefined();
  await report(t, 'a:default', 'rate_limit');
  expect(await order(t)).toEqual(['(a:default)']);
});

test('a secret is resolved for each use: text, reference, added key; a missing one is told with its place', async () => {
  const env: Record<string, string | undefined> = { INSTAR_NO_DETECT: '1', MY_KEY: 'first' };
  await using t = await boot(
    {
      profiles: {
        ...keys('k1'),
        ref: { provider: 'a', mode: 'api_key', apiKey: { source: 'env', id: 'MY_KEY' } },
        none: { provider: 'a', mode: 'api_key' },
      },
    },
    { env },
  );
  expect([await secretOf(t, 'k1'), await secretOf(t, 'ref')]).toEqual(['key-of-k1', 'first']);
  env['MY_KEY'] = 'rotated';
  expect(await secretOf(t, 'ref')).toBe('rotated');
  expect(await order(t)).toEqual(['k1', 'ref', '(none)']);
  await expect(secretOf(t, 'none')).rejects.toMatchObject({
    code: 'AUTH_NO_SECRET',
    message: expect.stringContaining('auth.profiles["none"].apiKey'),
  });
});

test('U149: the list is made by what chooses, and holds no secret', async () => {
  await using t = await boot({ profiles: { ...keys('k1', 'k2'), oa: { provider: 'a', mode: 'oauth' } } });
  await call(t, 'auth.add', { provider: 'a', id: 'oa', mode: 'oauth', secret: { access: 'sesame', expires: start - 1 } });
  await report(t, 'k1', 'auth');
  await report(t, 'k2', 'rate_limit', { perModel: true });
  const { profiles } = await call<{ profiles: readonly AuthLine[] }>(t, 'auth.list');
  expect(profiles.map(({ id, state, reason }) => [id, state, reason])).toEqual([
    ['k2', 'ready', undefined],
    ['k1', 'resting', 'auth'],
    ['oa', 'unusable', undefined],
  ]);
  expect(profiles[0]?.models).toEqual([{ model: 'm', reason: 'rate_limit', readyAt: start + 30_000 }]);
  expect(JSON.stringify([profiles, t.records])).not.toMatch(/sesame|key-of/);
});

test.for<readonly [string, object, string]>([
  ['auth.add', { provider: 'a' }, 'AUTH_PARAMS'],
  ['auth.add', { provider: 'a', secret: 'two words' }, 'AUTH_PARAMS'],
  ['auth.add', { provider: 'a', mode: 'magic', secret: 'x' }, 'AUTH_PARAMS'],
  ['auth.add', { provider: 'a', mode: 'oauth', secret: 'x' }, 'AUTH_PARAMS'],
  ['auth.add', { provider: 'b', id: 'k1', secret: 'x' }, 'AUTH_PARAMS'],
  ['auth.add', { secret: 'x' }, 'AUTH_PARAMS'],
  ['auth.order', { provider: 'a', ids: ['k9'] }, 'AUTH_PROFILE_UNKNOWN'],
  ['auth.order', { provider: 'a', ids: 'k1' }, 'AUTH_PARAMS'],
  ['auth.clear', { id: 'nobody' }, 'AUTH_PROFILE_UNKNOWN'],
  ['auth.remove', { id: 'k1' }, 'AUTH_PROFILE_UNKNOWN'],
])('%s refuses %j with %s', async ([method, params, code]) => {
  await using t = await boot({ profiles: keys('k1') });
  await expect(call(t, method, params)).rejects.toMatchObject({ code });
});

/** A token endpoint whose refresh tokens are good for one use, as the strictest are: a second use is refused. */
async function tokenEndpoint() {
  const valid = new Set(['r0']);
  let uses = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += String(piece)));
    request.on('end', () => {
      const token = new URLSearchParams(body).get('refresh_token') ?? '';
      const isGood = valid.delete(token);
      if (isGood) valid.add(`r${++uses}`);
      response.writeHead(isGood ? 200 : 400, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(isGood ? { access_token: `a${uses}`, refresh_token: `r${uses}`, expires_in: 3600 } : { error: 'invalid_grant' }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/token`,
    uses: () => uses,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}

test('a profile whose block was left out is told as that, with the reason, where an order names it', async () => {
  await using t = await boot({
    profiles: { ...keys('k1'), bad: { provider: 'a', mode: 'nonsense' } },
    order: { a: ['bad', 'k1', 'gone'] },
  });
  const why = (await call<{ profiles: readonly AuthLine[] }>(t, 'auth.list', { provider: 'a' })).profiles.map((one) => [one.id, one.why]);
  expect(why).toEqual([
    ['k1', 'by auth.order'],
    ['bad', expect.stringMatching(/^its block was left out: .*mode/)],
    ['gone', 'there is no profile of this name for a'],
  ]);
});

test('U146: a token is renewed once for all runs and processes that need it', async () => {
  await using home = await mkdtempDisposable(join(tmpdir(), 'instar-oauth-'));
  await using endpoint = await tokenEndpoint();
  const auth = { profiles: { oa: { provider: 'a', mode: 'oauth', oauth: { tokenUrl: endpoint.url, clientId: 'me' } } } };
  await using one = await boot(auth, { home: home.path });
  await call(one, 'auth.add', {
    provider: 'a',
    id: 'oa',
    mode: 'oauth',
    secret: { access: 'a0', refresh: 'r0', expires: start + 3_600_000 },
  });
  await using two = await boot(auth, { home: home.path }); // with a connection and a memory of its own, as another process has
  expect([await secretOf(one, 'oa'), await secretOf(two, 'oa')]).toEqual(['a0', 'a0']);
  later(3_600_000 - 30_000);
  const asked = [one, two, one, two, one, two, one].map((t) => secretOf(t, 'oa'));
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['a1']));
  expect(endpoint.uses()).toBe(1);
  later(3_600_000);
  expect([await secretOf(two, 'oa'), await secretOf(one, 'oa')]).toEqual(['a2', 'a2']);
});

test('a token that cannot be renewed serves while it is good, then fails with what to do; a renewal that died holds nobody up', async () => {
  await using endpoint = await tokenEndpoint();
  await using t = await boot({ profiles: { oa: { provider: 'a', mode: 'oauth', oauth: { tokenUrl: endpoint.url, clientId: 'me' } } } });
  await call(t, 'auth.add', { provider: 'a', id: 'oa', mode: 'oauth', secret: { access: 'a0', refresh: 'used', expires: start + 30_000 } });
  expect(await secretOf(t, 'oa')).toBe('a0');
  later(30_001);
  await expect(secretOf(t, 'oa')).rejects.toMatchObject({
    code: 'AUTH_REFRESH_FAILED',
    message: expect.stringMatching(/HTTP 400 invalid_grant; sign in anew/),
  });
  await call(t, 'auth.add', { provider: 'a', id: 'oa', mode: 'oauth', secret: { access: 'a0', refresh: 'r0', expires: 1 } });
  const { Store } = await import('../../../plugins/store/contract.ts');
  await t.kernel.run((run) =>
    run.get(Store).tx((open) => open.run('INSERT INTO auth_refreshes VALUES (?, ?, ?)', 'oa', 'dead', Date.now() - 1)),
  );
  expect(await secretOf(t, 'oa')).toBe('a1');
});

import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type AuthLine, AuthProfiles } from '../../../plugins/auth-profiles/contract.ts';
import { Store } from '../../../plugins/store/contract.ts';
import type { TestKernel } from '../../support/kernel.ts';
import { ask, bootModels, call, json, modelPlugins, providersAt, refuses, says, server, told } from '../../support/model-servers.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());
const later = (ms: number) => vi.setSystemTime(Date.now() + ms);

const key = (apiKey: string) => ({ provider: 'a', mode: 'api_key', apiKey });
const chain = (fallbacks: readonly string[] = []) => ({ defaults: { model: { primary: 'a/1', fallbacks } }, list: [{ id: 'main' }] });
const lines = async (t: TestKernel) => (await call<{ profiles: readonly AuthLine[] }>(t, 'auth.list', { provider: 'a' })).profiles;
const states = async (t: TestKernel) => (await lines(t)).map(({ id, state, reason }) => [id, state, reason].filter(Boolean).join(' '));

/** A profile `oa` that is signed in as a0, for an hour; the model server answers as `status` says, the token endpoint as `tokens` says. */
async function place(waitSeconds = 15) {
  const facts = {
    status: (_key: string) => 200,
    tokens: (n: number): object | undefined => ({ access_token: `a${n}`, refresh_token: `r${n}` }),
  };
  const endpoint = await server((_seen, response) => {
    const tokens = facts.tokens(endpoint.seen.length);
    json(response, tokens ? 200 : 400, tokens ?? { error: 'invalid_grant' });
  });
  const model = await server((seen, response) => {
    const status = facts.status(seen.key);
    if (status === 200) return says(response);
    json(response, status, { error: { message: 'no', type: 'permission_error' } });
  });
  const oauth = { tokenUrl: endpoint.url, clientId: 'me' };
  const t = await bootModels({
    failover: { waitSeconds },
    models: providersAt(model.url),
    auth: { profiles: { oa: { provider: 'a', mode: 'oauth', oauth } } },
  });
  const secret = { access: 'a0', refresh: 'r0', expires: Date.now() + 3_600_000 };
  await call(t, 'auth.add', { provider: 'a', id: 'oa', mode: 'oauth', secret });
  return {
    t,
    facts,
    endpoint,
    model,
    async [Symbol.asyncDispose]() {
      await t[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
      await endpoint[Symbol.asyncDispose]();
    },
  };
}

describe('a token', () => {
  test('that is forbidden one model is as good as before for the others, and is not renewed for it', async () => {
    await using p = await place();
    for (let i = 0; i < 3; i++) {
      p.facts.status = () => 403;
      expect([told(await ask(p.t)), await states(p.t)]).toEqual(['MODEL_HTTP', ['oa resting auth']]);
      p.facts.status = () => 200;
      expect([told(await ask(p.t)), await states(p.t)]).toEqual(['yes', ['oa ready']]);
    }
    expect([p.endpoint.seen.length, new Set(p.model.keys())]).toEqual([0, new Set(['a0'])]);
  });

  test.for<readonly [string, (n: number) => object | undefined, RegExp]>([
    ['is refused', () => undefined, /invalid_grant; sign in anew/],
    ['gives the same token', () => ({ access_token: 'a0', refresh_token: 'r1' }), /the endpoint gave the same token/],
  ])('whose renewal %s makes its profile rest, then is tried as it is', async ([, tokens, words]) => {
    await using p = await place();
    Object.assign(p.facts, { status: () => 401, tokens });
    const { failure } = await ask(p.t);
    expect(JSON.stringify(failure)).toMatch(words);
    expect([p.model.keys(), p.endpoint.seen.length, await states(p.t)]).toEqual([['a0'], 1, ['oa resting auth']]);
    p.facts.status = () => 200;
    later(30_000);
    expect([told(await ask(p.t)), p.model.keys(), p.endpoint.seen.length]).toEqual(['yes', ['a0', 'a0'], 1]);
  });

  test('that is always refused, however often it is renewed, rests for longer each time', async () => {
    await using p = await place(0);
    p.facts.status = () => 401;
    const rests: number[] = [];
    for (let i = 0; i < 3; i++) {
      await ask(p.t);
      const [line] = await lines(p.t);
      rests.push((line?.readyAt ?? 0) - Date.now());
      later(rests.at(-1) ?? 0);
    }
    expect([rests, p.endpoint.seen.length]).toEqual([[30_000, 60_000, 300_000], 3]);
  });

  test('the refresh token that comes with the same access token is kept', async () => {
    await using p = await place();
    Object.assign(p.facts, { status: () => 401, tokens: () => ({ access_token: 'a0', refresh_token: 'r1' }) });
    await ask(p.t);
    const [row] = await p.t.kernel.run((run) => run.get(Store).tx((open) => open.all('SELECT secret FROM auth_profiles')));
    expect(String(row?.['secret'])).toContain('"r1"');
  });

  test('that somebody says is good is not renewed', async () => {
    await using p = await place();
    const profile = { id: 'oa', provider: 'a', mode: 'oauth', origin: 'config' } as const;
    const secret = () => p.t.kernel.run(async (run) => (await run.get(AuthProfiles).credential(run, profile))?.apiKey);
    const failure = { code: 'MODEL_HTTP', message: 'x', reason: 'auth', status: 401 } as const;
    const end = { profile: 'oa', provider: 'a', origin: 'config', model: '1', beganAt: Date.now(), failure } as const;
    const refused = () =>
      p.t.kernel.run((run) => run.get(AuthProfiles).report(run, { ...end, credential: { profile: 'oa', apiKey: 'a0' } }));
    expect(await refused()).toBe(true);
    await call(p.t, 'auth.clear');
    expect([await secret(), p.endpoint.seen.length]).toEqual(['a0', 0]);
    await refused();
    expect([await secret(), p.endpoint.seen.length]).toEqual(['a1', 1]);
  });

  test('that is refused to the one that is tried while all rest is renewed at once', async () => {
    await using p = await place();
    p.facts.status = () => 403;
    await ask(p.t);
    p.facts.status = (apiKey) => (apiKey === 'a1' ? 200 : 401);
    expect([told(await ask(p.t)), p.model.keys()]).toEqual(['yes', ['a0', 'a0', 'a1']]);
  });
});

test('a profile that has a key in the config and was signed in for before rests as any other', async () => {
  await using model = await server((_seen, response) => json(response, 429, { error: { message: 'slow down' } }));
  await using t = await bootModels({ models: providersAt(model.url) });
  await call(t, 'auth.add', { provider: 'a', id: 'w', mode: 'oauth', secret: { access: 'a0', refresh: 'r0' } });
  await t.apply(modelPlugins, { agents: chain(), models: providersAt(model.url), auth: { profiles: { w: key('K') } } });
  expect([told(await ask(t)), model.keys()]).toEqual(['MODEL_HTTP', ['K']]);
  expect((await lines(t))[0]?.models).toMatchObject([{ model: '1', reason: 'rate_limit' }]);
});

test.for<readonly [number, string, boolean]>([
  [401, 'auth', true],
  [402, 'billing', true],
  [429, 'rate_limit', false],
  [503, 'overloaded', false],
  [504, 'timeout', false],
  [404, 'model_not_found', false],
])('where a key was replaced under way, %i (%s) asks again with the new one: %s', async ([status, reason, isAgain]) => {
  const held = Promise.withResolvers<void>();
  await using model = await server(async ({ key: sent }, response) => {
    if (sent === 'new') return says(response);
    await held.promise;
    json(response, status, { error: { message: 'no', ...(status === 404 && { code: 'model_not_found' }) } });
  });
  await using t = await bootModels({ failover: { waitSeconds: 0 }, models: providersAt(model.url) });
  await call(t, 'auth.add', { provider: 'a', id: 'p', secret: 'old' });
  const asking = ask(t);
  await expect.poll(() => model.seen.length).toBe(1);
  await call(t, 'auth.add', { provider: 'a', id: 'p', secret: 'new' });
  held.resolve();
  const reply = await asking;
  expect([reply.failure?.reason, model.keys()]).toEqual(isAgain ? [undefined, ['old', 'new']] : [reason, ['old']]);
});

test('a provider’s own key that is refused late is not held against the first profile, which has its name', async () => {
  const held = Promise.withResolvers<void>();
  await using model = await server(async ({ key: sent }, response) => {
    if (sent === 'good') return says(response);
    await held.promise;
    refuses(response);
  });
  const providers = { a: { baseUrl: `${model.url}/a`, apiKey: 'bad', models: [{ id: '1' }] } };
  await using t = await bootModels({ models: { providers } });
  const asking = ask(t);
  await expect.poll(() => model.seen.length).toBe(1);
  expect(await call(t, 'auth.add', { provider: 'a', secret: 'good' })).toMatchObject({ id: 'a:default' });
  held.resolve();
  expect([told(await asking), model.keys(), await states(t)]).toEqual(['yes', ['bad', 'good'], ['a:default ready']]);
});

test('what an attempt that was left behind gets late is not taken for what the next one was asked with', async () => {
  const [gate, renewed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using endpoint = await server(async (_seen, response) => {
    await gate.promise;
    json(response, 200, { access_token: 'fresh', refresh_token: 'r1' });
  });
  await using model = await server(async (_seen, response) => {
    gate.resolve();
    await renewed.promise;
    refuses(response);
  });
  const oa = { provider: 'a', mode: 'oauth', oauth: { tokenUrl: endpoint.url, clientId: 'me' } };
  await using t = await bootModels({
    failover: { waitSeconds: 0, firstByteSeconds: 0.3 },
    models: providersAt(model.url),
    auth: { profiles: { oa, key: key('K') } },
  });
  await call(t, 'auth.add', { provider: 'a', id: 'oa', mode: 'oauth', secret: { access: 'a0', refresh: 'r0', expires: 1 } });
  const asking = ask(t);
  await gate.promise;
  const profile = { id: 'oa', provider: 'a', mode: 'oauth', origin: 'config' } as const;
  await t.kernel.run((run) => run.get(AuthProfiles).credential(run, profile)); // the same answer, after whoever waited before
  renewed.resolve();
  expect([told(await asking), model.keys(), await states(t)]).toEqual([
    'FAILOVER_EXHAUSTED',
    ['K'],
    [expect.stringMatching(/^oa/), 'key resting auth'],
  ]);
});

test('a profile that stands in the config keeps its place in the order, and its rest, where the one added by command is removed', async () => {
  await using model = await server((_seen, response) => refuses(response));
  await using t = await bootModels({ models: providersAt(model.url) });
  await call(t, 'auth.add', { provider: 'a', id: 'w', mode: 'oauth', secret: { access: 'a0' } });
  await call(t, 'auth.add', { provider: 'a', id: 'v', secret: 'V' });
  await call(t, 'auth.order', { provider: 'a', ids: ['w', 'v'] });
  await t.apply(modelPlugins, { agents: chain(), models: providersAt(model.url), auth: { profiles: { w: key('K') } } });
  await ask(t);
  await call(t, 'auth.remove', { id: 'w' });
  expect([await call(t, 'auth.order', { provider: 'a' }), await states(t)]).toEqual([
    { provider: 'a', ids: ['w', 'v'] },
    ['w resting auth', 'v resting auth'],
  ]);
});

test('when a sole profile was used last is known after a restart, also of one that was removed and added anew', async () => {
  await using home = await mkdtempDisposable(join(tmpdir(), 'instar-auth-'));
  await using model = await server((_seen, response) => says(response));
  const boot = () => bootModels({ models: providersAt(model.url) }, [], { home: home.path });
  const add = (t: TestKernel) => call(t, 'auth.add', { provider: 'a', id: 'p', secret: 'K' });
  const at = Date.now();
  {
    await using t = await boot();
    await add(t);
    await ask(t);
    await call(t, 'auth.remove', { id: 'p' });
    await add(t);
    await ask(t);
  }
  later(120_000);
  await using t = await boot();
  expect(await lines(t)).toMatchObject([{ id: 'p', lastUsed: expect.toSatisfy((used: number) => Math.abs(used - at) < 60_000) }]);
});

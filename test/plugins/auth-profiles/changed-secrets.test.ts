import { chmod, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AuthLine } from '../../../plugins/auth-profiles/contract.ts';
import { ask, askIn, bootModels, call, json, modelPlugins, providersAt, refuses, says, server, told } from '../../support/model-servers.ts';
import type { TestKernel } from '../../support/kernel.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

const states = async (t: TestKernel) =>
  (await call<{ profiles: readonly AuthLine[] }>(t, 'auth.list', { provider: 'a' })).profiles.map(({ id, state, reason }) =>
    [id, state, reason].filter(Boolean).join(' '),
  );

describe('a token that the provider refuses', () => {
  /** A token endpoint that makes a1, a2, … of r0, r1, …, and a model server that takes only `good`. */
  async function place({ expiresIn, signedIn = {} }: { readonly expiresIn?: unknown; readonly signedIn?: object } = {}) {
    const facts = { good: 'a0', renew: true, uses: 0, gate: undefined as Promise<void> | undefined };
    const endpoint = await server(async (_seen, response) => {
      await facts.gate;
      if (!facts.renew) return json(response, 400, { error: 'invalid_grant' });
      const n = ++facts.uses;
      json(response, 200, { access_token: `a${n}`, refresh_token: `r${n}`, expires_in: expiresIn });
    });
    const model = await server(({ key }, response) => (key === facts.good ? says(response) : refuses(response)));
    const oauth = { tokenUrl: endpoint.url, clientId: 'me' };
    const t = await bootModels({ models: providersAt(model.url), auth: { profiles: { oa: { provider: 'a', mode: 'oauth', oauth } } } });
    const signIn = (more: object = {}) =>
      call(t, 'auth.add', { provider: 'a', id: 'oa', mode: 'oauth', secret: { access: 'a0', refresh: 'r0', ...more } });
    await signIn(signedIn);
    return {
      t,
      facts,
      endpoint,
      model,
      signIn,
      async [Symbol.asyncDispose]() {
        await t[Symbol.asyncDispose]();
        await model[Symbol.asyncDispose]();
        await endpoint[Symbol.asyncDispose]();
      },
    };
  }

  test.for<readonly [string, object]>([
    ['whose time nobody told', {}],
    ['whose time is not over', { expires: Date.now() + 3_600_000 }],
  ])('%s is renewed within the same ask, and makes nobody rest', async ([, signedIn]) => {
    await using p = await place({ signedIn });
    expect(told(await ask(p.t))).toBe('yes');
    p.facts.good = 'a1';
    expect(told(await ask(p.t))).toBe('yes');
    expect([p.model.keys(), p.facts.uses, await states(p.t)]).toEqual([['a0', 'a0', 'a1'], 1, ['oa ready']]);
    p.facts.good = 'a2'; // the renewed one runs out as well
    expect([told(await ask(p.t)), p.facts.uses]).toEqual(['yes', 2]);
  });

  test('is renewed once for all that it was refused to', async () => {
    await using p = await place();
    p.facts.good = 'a1';
    const all = await Promise.all(['x', 'y', 'z'].map((session) => ask(p.t, { session })));
    expect([all.map(told), p.facts.uses, await states(p.t)]).toEqual([['yes', 'yes', 'yes'], 1, ['oa ready']]);
  });

  test('rests where the renewed one is refused as well; who signs in anew begins anew', async () => {
    await using p = await place();
    p.facts.good = 'none';
    expect(told(await ask(p.t))).toBe('FAILOVER_EXHAUSTED');
    expect([p.model.keys(), p.facts.uses, await states(p.t)]).toEqual([['a0', 'a1'], 1, ['oa resting auth']]);
    await p.signIn();
    p.facts.good = 'a2';
    expect([told(await ask(p.t)), p.facts.uses]).toEqual(['yes', 2]);
  });

  test('a time that the endpoint tells as text counts', async () => {
    await using p = await place({ expiresIn: '3600', signedIn: { expires: 1 } });
    p.facts.good = 'a1';
    expect(told(await ask(p.t))).toBe('yes');
    vi.setSystemTime(Date.now() + 3_600_000);
    p.facts.good = 'a2';
    expect([told(await ask(p.t)), p.model.keys()]).toEqual(['yes', ['a1', 'a2']]); // renewed before it was refused
  });

  test('the probe renews it, too', async () => {
    await using p = await place();
    p.facts.good = 'a1';
    const { probes } = await call<{ probes: readonly { ok: boolean }[] }>(p.t, 'models.probe');
    expect(probes.map(({ ok }) => ok)).toEqual([true]);
  });

  test.for<readonly [string, boolean]>([
    ['answers', true],
    ['is refused', false],
  ])('a renewal that %s after somebody signed in anew does not undo that', async ([, renew]) => {
    await using p = await place({ signedIn: { expires: 1 } });
    const held = Promise.withResolvers<void>();
    Object.assign(p.facts, { gate: held.promise, renew, good: 'new' });
    const asking = ask(p.t);
    await expect.poll(() => p.endpoint.seen.length).toBe(1);
    await p.signIn({ access: 'new', refresh: 'r-new', expires: Date.now() + 7_200_000 });
    held.resolve();
    expect(told(await asking)).toBe('yes');
    expect([told(await ask(p.t)), new Set(p.model.keys())]).toEqual(['yes', new Set(['new'])]);
  });

  test('a profile that was taken away in mid-renewal is not put back', async () => {
    await using p = await place({ signedIn: { expires: 1 } });
    const held = Promise.withResolvers<void>();
    p.facts.gate = held.promise;
    const asking = ask(p.t);
    await expect.poll(() => p.endpoint.seen.length).toBe(1);
    await call(p.t, 'auth.remove', { id: 'oa' });
    held.resolve();
    expect([told(await asking), p.model.keys(), await states(p.t)]).toEqual(['AUTH_NO_SECRET', [], ['oa unusable']]);
  });

  test('a store that takes nothing when the endpoint has answered loses no token: it is used, and written as soon as may be', async () => {
    await using p = await place({ expiresIn: 3600, signedIn: { expires: 1 } });
    const other = new DatabaseSync(join(p.t.home, 'state.db'), { timeout: 0 });
    const held = Promise.withResolvers<void>();
    Object.assign(p.facts, { gate: held.promise, good: 'a1' });
    const asking = ask(p.t);
    await expect.poll(() => p.endpoint.seen.length).toBe(1);
    other.exec(`CREATE TRIGGER full BEFORE INSERT ON auth_profiles BEGIN SELECT raise(ABORT, 'no room'); END`);
    held.resolve();
    expect(told(await asking)).toBe('yes');
    other.exec('DROP TRIGGER full');
    expect([told(await ask(p.t)), p.endpoint.seen.length]).toEqual(['yes', 1]);
    const stored = () => String(other.prepare('SELECT secret FROM auth_profiles').get()?.['secret']);
    await expect.poll(stored).toContain('"r1"');
    expect(other.prepare('SELECT * FROM auth_refreshes').all()).toEqual([]);
    other.close();
  });

  test.for<readonly [number, string, RegExp, string]>([
    [503, 'AUTH_ENDPOINT_DOWN', /answered HTTP 503; the next use tries again$/, 'oa resting timeout'],
    [429, 'AUTH_ENDPOINT_DOWN', /answered HTTP 429/, 'oa resting timeout'],
    [200, 'AUTH_ENDPOINT_DOWN', /answered HTTP 200 without a token/, 'oa resting timeout'],
    [401, 'AUTH_REFRESH_FAILED', /answered HTTP 401; sign in anew$/, 'oa resting auth'],
    [0, 'AUTH_ENDPOINT_DOWN', /did not answer \(.+\); the next use tries again$/, 'oa resting timeout'],
  ])('an endpoint that answers %i is told as %s', async ([status, code, words, state]) => {
    await using endpoint = await server((_seen, response) => void (status ? json(response, status, {}) : response.destroy()));
    const oauth = { tokenUrl: endpoint.url, clientId: 'me' };
    await using t = await bootModels({
      models: providersAt(endpoint.url),
      auth: { profiles: { oa: { provider: 'a', mode: 'oauth', oauth } } },
    });
    await call(t, 'auth.add', { provider: 'a', id: 'oa', mode: 'oauth', secret: { access: 'old', refresh: 'r', expires: 1 } });
    expect((await ask(t)).failure).toMatchObject({ code, message: expect.stringMatching(words) });
    expect(await states(t)).toEqual([state]);
  });
});

test('a key that an edit changed or took away binds runs in flight', async () => {
  await using model = await server((_seen, response) => says(response));
  const config = (profiles: object) => ({
    agents: { defaults: { model: 'a/1' }, list: [{ id: 'main' }] },
    models: providersAt(model.url),
    auth: { profiles },
  });
  const keyed = (apiKey: string, provider = 'a') => ({ p: { provider, mode: 'api_key', apiKey } });
  await using t = await bootModels(config(keyed('old')));
  const ends = await t.kernel.run(async (run) => {
    const all = [told(await askIn(run))];
    for (const profiles of [keyed('new'), keyed('of-b', 'b'), {}]) {
      await t.apply(modelPlugins, config(profiles));
      all.push(told(await askIn(run)));
    }
    return all;
  });
  expect([ends, model.keys()]).toEqual([
    ['yes', 'yes', 'AUTH_NO_SECRET', 'AUTH_NO_SECRET'],
    ['old', 'new'],
  ]);
});

test('a late refusal of a key that was replaced meanwhile is not held against the new one, which is asked at once', async () => {
  const held = Promise.withResolvers<void>();
  await using model = await server(async ({ key }, response) => {
    if (key !== 'old') return says(response);
    await held.promise;
    refuses(response);
  });
  await using t = await bootModels({ models: providersAt(model.url) });
  await call(t, 'auth.add', { provider: 'a', id: 'p', secret: 'old' });
  const asking = ask(t);
  await expect.poll(() => model.seen.length).toBe(1);
  await call(t, 'auth.add', { provider: 'a', id: 'p', secret: 'new' });
  held.resolve();
  expect([told(await asking), model.keys(), await states(t)]).toEqual(['yes', ['old', 'new'], ['p ready']]);
});

test.for(['api_key', 'token'])('a %s that a program keeps is asked for anew once it was refused', async (mode) => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'instar-kept-'));
  const [program, value] = [join(dir.path, 'program'), join(dir.path, 'value')];
  await writeFile(program, `#!/bin/sh\ncat ${value}\n`);
  await chmod(program, 0o700);
  await writeFile(value, 'first');
  await using model = await server(({ key }, response) => (key === 'second' ? says(response) : refuses(response)));
  await using t = await bootModels({
    secrets: { providers: { vault: { source: 'exec', command: program, jsonOnly: false } } },
    models: providersAt(model.url),
    auth: {
      profiles: { p: { provider: 'a', mode, [mode === 'token' ? 'token' : 'apiKey']: { source: 'exec', provider: 'vault', id: 'x' } } },
    },
  });
  await ask(t);
  await writeFile(value, 'second');
  expect([told(await ask(t)), model.keys()]).toEqual(['yes', ['first', 'second']]);
});

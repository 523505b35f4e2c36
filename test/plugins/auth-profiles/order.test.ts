import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AuthLine } from '../../../plugins/auth-profiles/contract.ts';
import { Store } from '../../../plugins/store/contract.ts';
import type { TestKernel } from '../../support/kernel.ts';
import { ask, bootModels, call, json, modelPlugins, providersAt, says, server, told } from '../../support/model-servers.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());
const later = (ms: number) => vi.setSystemTime(Date.now() + ms);

const key = (provider: string, apiKey: string) => ({ provider, mode: 'api_key', apiKey });
const lines = async (t: TestKernel, provider = 'a') =>
  (await call<{ profiles: readonly AuthLine[] }>(t, 'auth.list', { provider })).profiles;
const states = async (t: TestKernel) => (await lines(t)).map(({ id, state, why }) => [id, state, why]);

test('an order that names another provider’s profile is a fault of the config, at its place', async () => {
  const auth = { profiles: { 'b:work': key('b', 'of-b'), one: key('a', 'of-a') }, order: { a: ['one', 'b:work', 'added'] } };
  await expect(bootModels({ auth })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(/^auth\.order\.a\[1\]: .*"b:work" is of provider "b"/),
  });
});

test('another provider’s added key is not sent, whatever the order names', async () => {
  await using model = await server((_seen, response) => says(response));
  await using t = await bootModels({
    models: providersAt(model.url),
    auth: { profiles: { one: key('a', 'of-a') }, order: { a: ['b:work', 'one'] } },
  });
  await call(t, 'auth.add', { provider: 'b', id: 'b:work', secret: 'of-b' });
  expect([told(await ask(t)), model.keys()]).toEqual(['yes', ['of-a']]);
  expect((await states(t)).find(([id]) => id === 'b:work')).toEqual(['b:work', 'unusable', 'there is no profile of this name for a']);
});

test('another provider’s added key is not that of a profile of this name in the config', async () => {
  await using model = await server((_seen, response) => says(response));
  await using t = await bootModels({ models: providersAt(model.url) });
  await call(t, 'auth.add', { provider: 'b', id: 'work', secret: 'of-b' });
  await t.apply(modelPlugins, {
    agents: { defaults: { model: 'a/1' }, list: [{ id: 'main' }] },
    models: providersAt(model.url),
    auth: { profiles: { work: { provider: 'a', mode: 'api_key' } } },
  });
  await ask(t);
  expect(model.keys()).not.toContain('of-b');
});

test('what is added beside an order is told and listed as not used; what is removed leaves the order', async () => {
  await using model = await server((_seen, response) => says(response));
  await using t = await bootModels({ models: providersAt(model.url) });
  await call(t, 'auth.add', { provider: 'a', id: 'work', secret: 'old' });
  await call(t, 'auth.order', { provider: 'a', ids: ['work'] });
  const { notes } = await call<{ notes: readonly string[] }>(t, 'auth.add', { provider: 'a', secret: 'good' });
  expect(notes[0]).toBe('it is not in the order of a, so that it is not used; to use it: instar models auth order a work a:default');
  expect(await states(t)).toEqual([
    ['work', 'ready', 'by "instar models auth order"'],
    ['a:default', 'unusable', 'not in the order of a, so that it is not used'],
  ]);
  await call(t, 'auth.remove', { id: 'work' });
  expect(await states(t)).toEqual([['a:default', 'ready', 'the only profile']]);
  expect([told(await ask(t)), model.keys()]).toEqual(['yes', ['good']]);
});

test('a key is not added to a profile that has its own in the config', async () => {
  await using t = await bootModels({ models: providersAt('http://127.0.0.1:9'), auth: { profiles: { work: key('a', 'written') } } });
  await expect(call(t, 'auth.add', { provider: 'a', id: 'work', secret: 'typed' })).rejects.toMatchObject({
    code: 'AUTH_PROFILE_CONFIG',
    status: 409,
  });
});

test('each use counts for who is least recently used, and is written once a minute at most', async () => {
  await using model = await server((_seen, response) => says(response));
  await using t = await bootModels({ models: providersAt(model.url), auth: { profiles: { k1: key('a', 'k1'), k2: key('a', 'k2') } } });
  const written = () => t.kernel.run((run) => run.get(Store).tx((open) => open.all('SELECT used_at FROM auth_uses ORDER BY profile')));
  await ask(t, { session: 'x' });
  later(10);
  await ask(t, { session: 'y' });
  const first = await written();
  later(10);
  await ask(t, { session: 'x' });
  expect([model.keys(), await written()]).toEqual([['k1', 'k2', 'k1'], first]);
  expect((await lines(t)).map(({ id, lastUsed = 0 }) => [id, Date.now() - lastUsed])).toEqual([
    ['k2', 10],
    ['k1', 0],
  ]);
  await ask(t, { session: 'z' });
  expect(model.keys().at(-1)).toBe('k2');
  later(60_000);
  await ask(t, { session: 'x' });
  expect(await written()).not.toEqual(first);
});

test.for<readonly [string, object]>([
  ['renamed', { renamed: key('a', 'key-renamed'), y: key('a', 'key-y') }],
  ['left without a key', { x: { provider: 'a', mode: 'api_key' }, z: key('a', 'key-z'), y: key('a', 'key-y') }],
])('a session whose profile was %s stays with another one', async ([, profiles]) => {
  await using model = await server((_seen, response) => says(response));
  const config = (some: object) => ({
    agents: { defaults: { model: 'a/1' }, list: [{ id: 'main' }] },
    models: providersAt(model.url),
    auth: { profiles: some },
  });
  await using t = await bootModels(config({ x: key('a', 'key-x'), y: key('a', 'key-y') }));
  await ask(t);
  await t.apply(modelPlugins, config(profiles));
  const used = new Set<string | undefined>();
  for (let i = 0; i < 4; i++) {
    later(1);
    await ask(t);
    used.add(model.keys().at(-1));
    later(1);
    await ask(t, { session: `other ${i}` });
  }
  expect(used.size).toBe(1);
});

test('a clock that was put back makes nobody rest for what it made up', async () => {
  let isBad = true;
  await using model = await server(({ path }, response) =>
    isBad && path.startsWith('/a')
      ? json(response, 503, { error: { message: 'over', type: 'overloaded_error' } })
      : says(response, path[1]),
  );
  const chain = { defaults: { model: { primary: 'a/1', fallbacks: ['b/1'] } }, list: [{ id: 'main' }] };
  await using t = await bootModels({ models: providersAt(model.url), agents: chain });
  const days = 3 * 86_400_000;
  later(days);
  expect(told(await ask(t))).toBe('b');
  isBad = false;
  later(-days);
  expect(told(await ask(t))).toBe('a');
  later(days);
  expect(told(await ask(t))).toBe('a'); // it served since: the rest is over for good
});

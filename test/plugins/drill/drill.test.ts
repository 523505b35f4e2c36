import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { CommandHost } from '../../../plugins/cli/contract.ts';
import { run } from '../../../plugins/drill/command.ts';
import type { Scene } from '../../../plugins/drill/scenes.ts';
import { instar, tempHome } from '../../support/instar.ts';

/** Stands for the real provider: whoever asks it anything has broken the promise. */
async function realProvider() {
  let asked = 0;
  const server = createServer((_request, response) => void (asked++, response.end()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return { url, asked: () => asked, [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())) };
}

const keys = (...ids: readonly string[]) =>
  Object.fromEntries(ids.map((id) => [id, { provider: 'a', mode: 'api_key', apiKey: `secret-of-${id}` }]));

test('instar drill failover plays each fault on the user’s chain, asks no real provider, and leaves the state folder as it was', async () => {
  await using real = await realProvider();
  const block = { baseUrl: real.url, apiKey: 'real-key-of-the-user', models: [{ id: 'm' }] };
  using place = tempHome({
    agents: { defaults: { model: { primary: 'a/m', fallbacks: ['b/m', 'nope/x'] } } },
    models: { providers: { a: block, b: block } },
    auth: { profiles: keys('a:one', 'a:two') },
  });
  const { stdout, stderr, code } = await instar(place.home, ['drill', 'failover', '--json']);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  const { scenes, chain } = JSON.parse(stdout) as { readonly scenes: readonly Scene[]; readonly chain: readonly string[] };
  expect(chain).toEqual(['a/m', 'b/m', 'nope/x']);
  const ways = Object.fromEntries(
    scenes.map(({ fault, where, attempts, answeredBy, error }) => [
      `${fault} of ${where}`,
      [attempts.map(({ model, profile }) => `${model} ${profile}`), answeredBy ?? error?.code],
    ]),
  );
  const all = ['a/m a:one', 'a/m a:two', 'b/m b:default'];
  for (const fault of ['rate_limit', 'auth', 'billing', 'timeout', 'overloaded']) {
    expect(ways).toMatchObject({
      [`${fault} of a/m as a:one`]: [all.slice(0, 2), 'a/m'],
      [`${fault} of a/m`]: [all, 'b/m'],
      [`${fault} of every model`]: [fault === 'overloaded' ? [...all, 'a/m a:one'] : all, 'FAILOVER_EXHAUSTED'],
    });
  }
  expect(ways).toMatchObject({
    'format of a/m': [['a/m a:one'], 'MODEL_HTTP'],
    'context_overflow of a/m': [['a/m a:one'], 'MODEL_HTTP'],
    'model_not_found of a/m': [['a/m a:one', 'b/m b:default'], 'b/m'],
    'unknown of a/m': [['a/m a:one', 'a/m a:one'], 'FAILOVER_EXHAUSTED'],
    'rate_limit of every model, then again, when they are well': [['a/m a:one'], 'a/m'],
  });
  const waited = scenes.filter(({ waitedMs = 0 }) => waitedMs > 1000).map(({ fault, where }) => `${fault} of ${where}`);
  expect(waited).toEqual(['overloaded of every model']);
  expect(real.asked()).toBe(0);
  expect(stdout).not.toMatch(/secret-of|real-key/);
  const { stdout: listed } = await instar(place.home, ['models', 'auth', 'list', '--json']);
  expect((JSON.parse(listed) as { profiles: readonly { state: string }[] }).profiles.filter(({ state }) => state !== 'ready')).toEqual([]);
}, 60_000);

test('a drill that does not exist is told with the nearest', async () => {
  const wrong = { code: 'CLI_USAGE', message: expect.stringContaining('did you mean "failover"?') };
  await expect(run(['failovr'], {} as CommandHost)).rejects.toMatchObject(wrong);
});

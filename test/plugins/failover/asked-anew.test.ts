import { expect, test } from 'vitest';
import { AuthProfiles } from '../../../plugins/auth-profiles/contract.ts';
import { bootTest, plugin } from '../../support/kernel.ts';
import { ask, modelPlugins, providersAt, refuses, server, told } from '../../support/model-servers.ts';

test('a profile whose secret is another by now is asked once more, however often that is said', async () => {
  await using model = await server((_seen, response) => refuses(response));
  const profile = { id: 'p', provider: 'a', mode: 'api_key', origin: 'config' } as const;
  const changing = plugin(
    'changing',
    (ctx) =>
      ctx.provide(AuthProfiles, {
        standing: () => [{ profile, usable: true, errors: 0, why: 'test' }],
        credential: async () => ({ profile: 'p', apiKey: `key-${model.seen.length}` }),
        report: async (_run, { credential }) => credential?.apiKey.startsWith('key-') === true,
      }),
    { provides: [AuthProfiles] },
  );
  const config = { agents: { defaults: { model: 'a/1' }, list: [{ id: 'main' }] }, models: providersAt(model.url) };
  await using t = await bootTest([...modelPlugins.filter(({ name }) => name !== 'auth-profiles'), changing], config);
  expect([told(await ask(t)), model.keys()]).toEqual(['FAILOVER_EXHAUSTED', ['key-0', 'key-1']]);
});

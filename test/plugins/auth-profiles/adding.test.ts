import { expect, test } from 'vitest';
import agents from '../../../plugins/agents/index.ts';
import authProfiles from '../../../plugins/auth-profiles/index.ts';
import { type Client, type Method, Methods } from '../../../plugins/gateway/contract.ts';
import demo from '../../../plugins/model-demo/index.ts';
import models from '../../../plugins/models/index.ts';
import secrets from '../../../plugins/secrets/index.ts';
import store from '../../../plugins/store/index.ts';
import { bootTest, type TestKernel } from '../../support/kernel.ts';

const boot = (env: Readonly<Record<string, string>> = {}, config: object = {}) =>
  bootTest([store, secrets, agents, models, demo, authProfiles], { ...config }, { env: { INSTAR_NO_DETECT: '1', ...env } });
const call = <T>(t: TestKernel, method: string, params: Readonly<Record<string, unknown>> = {}) =>
  t.kernel.run(async (run) => (await ((await run.call(Methods, {}))[method] as Method)(params, {} as Client, run)) as T);
const add = (t: TestKernel, provider: string) => call<{ notes: readonly string[] }>(t, 'auth.add', { provider, secret: 'sk-1' });

test('a first key makes the usual model of its provider answer, as one in the environment does', async () => {
  await using t = await boot();
  expect((await add(t, 'openai')).notes).toEqual([expect.stringMatching(/^agent "main" answers with openai\//)]);
});

test('it takes the place of the key in the environment, and says so once', async () => {
  await using t = await boot({ ANTHROPIC_API_KEY: 'sk-env' });
  const gone = /^the key in ANTHROPIC_API_KEY is no longer used while anthropic has profiles/;
  expect((await add(t, 'anthropic')).notes).toEqual([expect.stringMatching(gone), expect.stringMatching(/answers with anthropic\//)]);
  expect((await add(t, 'anthropic')).notes).toHaveLength(1);
});

test('it takes the place of the key in the block of its provider', async () => {
  const providers = { own: { baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'k', models: [{ id: 'm' }] } };
  await using t = await boot({}, { models: { providers } });
  expect((await add(t, 'own')).notes[0]).toMatch(/^the key in models\.providers\.own\.apiKey is no longer used/);
});

test('where another model is configured, the way to change that is told', async () => {
  await using t = await boot({}, { agents: { defaults: { model: 'demo/demo' } } });
  expect((await add(t, 'openai')).notes).toEqual([
    expect.stringMatching(/goes on with demo\/demo; .*config set agents\.defaults\.model openai\//),
  ]);
});

test('a provider that nobody knows is refused, with the name that was meant', async () => {
  await using t = await boot();
  await expect(add(t, 'anthropik')).rejects.toMatchObject({
    code: 'AUTH_PROVIDER_UNKNOWN',
    message: expect.stringMatching(/"anthropic"\?$/),
  });
  await expect(add(t, 'zzzzzzzzz')).rejects.toMatchObject({ message: expect.stringMatching(/known without a block: anthropic, openai/) });
});

import { expect, test } from 'vitest';
import agents from '../../../plugins/agents/index.ts';
import modelDemo from '../../../plugins/model-demo/index.ts';
import { Models } from '../../../plugins/models/contract.ts';
import models from '../../../plugins/models/index.ts';
import modelsOpenai from '../../../plugins/models-openai/index.ts';
import { bootTest } from '../../support/kernel.ts';
import { startMock } from '../../support/mock-model.ts';
import { ask, askIn, block, user } from './asking.ts';

const plugins = [agents, models, modelsOpenai, modelDemo];
const api = 'openai-completions';

test('a faulty provider block is left out with its reason, and the others answer', async () => {
  await using mock = await startMock();
  const faulty = { ...block('google-genai', mock.url) };
  await using kernel = await bootTest(plugins, { models: { providers: { p1: faulty, p2: block(api, mock.url) } } });
  expect((await ask(kernel, 'p2', 'hello')).text).toBe('echo: hello');
  const [out] = kernel.kernel.inspect().leftOut;
  expect(out).toMatchObject({ plugin: 'models.providers.p1', code: 'CONFIG_INVALID' });
  expect(out!.why).toContain('google-generative-ai');
  await expect(ask(kernel, 'p1', 'hello')).rejects.toMatchObject({
    code: 'MODEL_UNKNOWN',
    message: expect.stringContaining("the provider's block was left out"),
  });
});

test('an unknown key in a live block rejects the edit, naming the nearest', async () => {
  await using mock = await startMock();
  await using kernel = await bootTest(plugins, { models: { providers: { p: block(api, mock.url) } } });
  const edit = kernel.apply(plugins, { models: { providers: { p: { ...block(api, mock.url), baseURL: 'x' } } } });
  await expect(edit).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    problems: [{ path: 'models.providers.p.baseURL', nearest: 'baseUrl' }],
  });
  expect((await ask(kernel, 'p', 'hello')).text).toBe('echo: hello');
});

test('a rotated key is used by a run that began before it', async () => {
  await using mock = await startMock();
  const config = (apiKey: string) => ({ models: { providers: { p: { ...block(api, mock.url), apiKey } } } });
  await using kernel = await bootTest(plugins, config('old-key-1234'));
  await kernel.kernel.run(async (run) => {
    await askIn(run, 'p/m', { messages: [user('one')] });
    await kernel.apply(plugins, config('new-key-1234'));
    await askIn(run, 'p/m', { messages: [user('two')] });
    await kernel.apply(plugins, { models: { providers: {} } });
    await askIn(run, 'p/m', { messages: [user('three')] });
  });
  const sent = mock.requests.map(({ headers }) => headers.authorization);
  expect(sent).toEqual(['Bearer old-key-1234', 'Bearer new-key-1234', undefined]);
});

test('a rejected edit leaves the old key in use', async () => {
  await using mock = await startMock();
  const config = (apiKey: string, more: object = {}) => ({ models: { providers: { p: { ...block(api, mock.url), apiKey } } }, ...more });
  await using kernel = await bootTest(plugins, config('old-key-1234'));
  await expect(kernel.apply(plugins, config('new-key-1234', { agents: { list: [{ id: 'a' }, { id: 'a' }] } }))).rejects.toThrow();
  await ask(kernel, 'p', 'hello');
  expect(mock.requests.at(-1)!.headers.authorization).toBe('Bearer old-key-1234');
});

test('a key that a server sends back is in no message and no body', async () => {
  await using mock = await startMock();
  const apiKey = 'Rate limit reached';
  await using kernel = await bootTest(plugins, { models: { providers: { p: { ...block(api, mock.url), apiKey } } } });
  const { failure } = await ask(kernel, 'p', '[[status:429]]');
  expect(JSON.stringify(failure)).not.toContain(apiKey);
  expect(failure!.message).toContain('[key]');
});

test('a key of the environment goes to its own provider only', async () => {
  await using mock = await startMock();
  const { apiKey: _, ...open } = block(api, mock.url);
  const env = { INSTAR_NO_DETECT: '1', OPENAI_API_KEY: 'sk-of-the-environment' };
  await using kernel = await bootTest(plugins, { models: { providers: { openai: open } } }, { env });
  await ask(kernel, 'openai', 'hello');
  expect(mock.requests.at(-1)!.headers.authorization).toBeUndefined();
});

test('a known provider without its key asks nobody and says which variable to set', async () => {
  await using kernel = await bootTest(plugins, {});
  const { failure } = await kernel.kernel.run((run) => askIn(run, 'google/gemini-x', { messages: [user('hello')] }));
  expect(failure).toMatchObject({ code: 'ADAPTER_MISSING' });
  const groq = await kernel.kernel.run((run) => askIn(run, 'groq/x', { messages: [user('hello')] }));
  expect(groq.failure).toEqual({ code: 'MODEL_NO_KEY', message: 'groq/x needs a key: set GROQ_API_KEY', reason: 'auth' });
});

test('a model whose protocol nobody speaks is a failure that names the plugins to enable', async () => {
  await using kernel = await bootTest([agents, models], { models: { providers: { p: block(api, 'http://127.0.0.1:9') } } });
  const { failure } = await ask(kernel, 'p', 'hello');
  expect(failure).toMatchObject({ code: 'ADAPTER_MISSING', message: expect.stringContaining('enable models-openai or models-pi') });
});

test('the list has the config’s models, those of known keys, and those that plugins bring', async () => {
  const env = { INSTAR_NO_DETECT: '1', GROQ_API_KEY: 'k' };
  await using kernel = await bootTest(plugins, { models: { providers: { p: block(api, 'http://127.0.0.1:9') } } }, { env });
  const list = await kernel.kernel.run((run) => run.get(Models).list(run));
  expect(list.map(({ provider, id }) => `${provider}/${id}`)).toEqual(['p/m', 'groq/openai/gpt-oss-120b', 'demo/demo']);
});

test('headers of a block and of a model reach the server', async () => {
  await using mock = await startMock();
  const own = { ...block(api, mock.url, { headers: { 'x-b': '2' } }), headers: { 'x-a': '1', 'x-b': '1' } };
  await using kernel = await bootTest(plugins, { models: { providers: { p: own } } });
  await ask(kernel, 'p', 'hello');
  expect(mock.requests.at(-1)!.headers).toMatchObject({ 'x-a': '1', 'x-b': '2' });
});

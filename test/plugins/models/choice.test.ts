import { createServer } from 'node:http';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { StartReport } from '../../../kernel/index.ts';
import agents from '../../../plugins/agents/index.ts';
import modelDemo from '../../../plugins/model-demo/index.ts';
import { Models, type ModelChoice } from '../../../plugins/models/contract.ts';
import { localServers } from '../../../plugins/models/known.ts';
import models from '../../../plugins/models/index.ts';
import { bootTest, type TestKernel } from '../../support/kernel.ts';
import { block } from './asking.ts';

const quiet = { INSTAR_NO_DETECT: '1' };
const providers = { mock: block('openai-completions', 'http://127.0.0.1:9/v1') };

const boot = (config: object, env: Readonly<Record<string, string>> = quiet) =>
  bootTest([agents, models, modelDemo], config as Record<string, unknown>, { env });

const choose = ({ kernel }: TestKernel, agent = 'main', asked?: string): Promise<ModelChoice> =>
  kernel.run((run) => run.get(Models).choose(run, agent, asked));

const ref = ({ model }: ModelChoice) => `${model.provider}/${model.id}`;

describe('which model answers', () => {
  const both = { ...quiet, OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' };
  test.each<[string, object, Record<string, string>, string, RegExp]>([
    [
      'the agent’s own',
      { models: { providers }, agents: { defaults: { model: 'openai/x' }, list: [{ id: 'main', model: 'mock/m' }] } },
      both,
      'mock/m',
      /^named in agents\.list\[0\]\.model/,
    ],
    [
      'the defaults’',
      { models: { providers }, agents: { defaults: { model: { primary: 'mock/m', fallbacks: [] } } } },
      both,
      'mock/m',
      /^named in agents\.defaults\.model/,
    ],
    ['the first of the config', { models: { providers } }, both, 'mock/m', /^the first in models\.providers; set agents\.defaults\.model/],
    ['the first key in the environment', {}, both, 'anthropic/claude-sonnet-5-5', /^ANTHROPIC_API_KEY is set; .*"demo\/demo"/],
    ['the second', {}, { ...quiet, OPENAI_API_KEY: 'k', XAI_API_KEY: 'k' }, 'openai/gpt-6.2-sol', /^OPENAI_API_KEY is set/],
    [
      'Google’s by either name',
      {},
      { ...quiet, GOOGLE_API_KEY: 'k', GROQ_API_KEY: 'k' },
      'google/gemini-flash-latest',
      /^GOOGLE_API_KEY is set/,
    ],
    ['OpenRouter’s', {}, { ...quiet, OPENROUTER_API_KEY: 'k', GROQ_API_KEY: 'k' }, 'openrouter/openrouter/auto', /^OPENROUTER_API_KEY/],
    ['Groq’s', {}, { ...quiet, GROQ_API_KEY: 'k', MISTRAL_API_KEY: 'k' }, 'groq/openai/gpt-oss-120b', /^GROQ_API_KEY/],
    ['Mistral’s', {}, { ...quiet, MISTRAL_API_KEY: 'k', DEEPSEEK_API_KEY: 'k' }, 'mistral/mistral-large-latest', /^MISTRAL_API_KEY/],
    ['DeepSeek’s', {}, { ...quiet, DEEPSEEK_API_KEY: 'k', XAI_API_KEY: 'k' }, 'deepseek/deepseek-v4-pro', /^DEEPSEEK_API_KEY/],
    ['xAI’s', {}, { ...quiet, XAI_API_KEY: 'k' }, 'xai/grok-4.7', /^XAI_API_KEY/],
    ['an empty key is none', {}, { ...quiet, OPENAI_API_KEY: ' ' }, 'demo/demo', /no provider key/],
    [
      'the demo where there is nothing',
      {},
      quiet,
      'demo/demo',
      /^no model in the config, no provider key .* not looked for \(INSTAR_NO_DETECT=1\); export a key such as ANTHROPIC_API_KEY/,
    ],
  ])('%s', async (_, config, env, expected, why) => {
    await using kernel = await boot(config, env);
    const choice = await choose(kernel);
    expect(ref(choice)).toBe(expected);
    expect(choice.why).toMatch(why);
  });

  test('one that was asked for by name goes before all', async () => {
    await using kernel = await boot({ models: { providers }, agents: { defaults: { model: 'demo/demo' } } });
    expect(ref(await choose(kernel, 'main', 'mock/m'))).toBe('mock/m');
  });

  test('one whose provider is known needs no block, and one without a slash must be the only one of its name', async () => {
    await using kernel = await boot({ models: { providers }, agents: { defaults: { model: 'openai/gpt-next' } } });
    const { model } = await choose(kernel);
    expect(model).toMatchObject({ provider: 'openai', id: 'gpt-next', api: 'openai-responses', contextWindow: 128_000 });
    expect(ref(await choose(kernel, 'main', 'm'))).toBe('mock/m');
    expect(ref(await choose(kernel, 'main', 'ollama/llama3.2'))).toBe('ollama/llama3.2');
  });

  test('a model is one and the same object every time', async () => {
    await using kernel = await boot({ agents: { defaults: { model: 'openai/gpt-next' } } });
    expect((await choose(kernel)).model).toBe((await choose(kernel)).model);
  });

  test.each([
    ['mock/n', /^no model "mock\/n": models\.providers\.mock\.models lists no "n"; did you mean "mock\/m"\?$/],
    ['mok/m', /^no model "mok\/m": there is no provider "mok" in models\.providers; did you mean "mock\/m"\?$/],
    ['something', /^no model "something": a model is named as <provider>\/<id>; /],
  ])('the unknown model %s is an error that names the nearest', async (asked, message) => {
    await using kernel = await boot({ models: { providers } });
    await expect(choose(kernel, 'main', asked)).rejects.toMatchObject({ code: 'MODEL_UNKNOWN', message: expect.stringMatching(message) });
  });

  test('without the demo plugin nothing to choose from is one clear error', async () => {
    await using kernel = await bootTest([agents, models], {}, { env: quiet });
    await expect(choose(kernel)).rejects.toMatchObject({ code: 'MODEL_NONE', message: expect.stringContaining('agents.defaults.model') });
  });

  test('the start block says which, and why; a fault does not stop it', async () => {
    const report = ({ kernel }: TestKernel) => kernel.run((run) => run.call(StartReport, []));
    await using good = await boot({ models: { providers } });
    expect(await report(good)).toContainEqual({ label: 'model', value: expect.stringMatching(/^mock\/m \(the first in/) });
    await using bad = await boot({ agents: { defaults: { model: 'mok/m' } } });
    expect(await report(bad)).toContainEqual({ label: 'model', value: expect.stringMatching(/^no model "mok\/m"/) });
  });
});

describe('a server on this machine', () => {
  /** An Ollama on its usual port, and how often it was asked. Undefined where the port is taken. */
  async function fakeOllama() {
    const paths: string[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url ?? '');
      const answers: Record<string, unknown> = {
        '/api/version': { version: '0.12.6' },
        '/api/tags': { models: [{ name: 'qwen3:8b' }] },
        '/api/show': { capabilities: ['completion', 'tools'] },
      };
      response.end(JSON.stringify(answers[request.url ?? ''] ?? {}));
    });
    server.listen(Number(new URL(localServers.ollama.baseUrl).port), '127.0.0.1');
    const isOurs = await once(server, 'listening').then(
      () => true,
      () => false, // something else on this machine has the port
    );
    if (!isOurs) return undefined;
    const close = async () => {
      server.close().closeAllConnections();
      await once(server, 'close'); // the next test wants the same port
    };
    return { paths, [Symbol.asyncDispose]: close };
  }

  test('is found after the start, answers the first turn, and survives a reload', async ({ skip }) => {
    await using ollama = await fakeOllama();
    if (!ollama) skip('port 11434 is taken');
    await using kernel = await boot({}, {});
    const choice = await choose(kernel);
    expect(ref(choice)).toBe('ollama/qwen3:8b');
    expect(choice.why).toBe(
      'Ollama 0.12.6 answers at 127.0.0.1:11434; set agents.defaults.model to choose another, INSTAR_NO_DETECT=1 to not look',
    );
    const asked = ollama?.paths.length;
    await kernel.apply([agents, models, modelDemo], { models: { providers: { later: { ...providers.mock, models: [] } } } });
    expect(ref(await choose(kernel))).toBe('ollama/qwen3:8b');
    expect(ollama?.paths.length).toBe(asked);
  });

  test('is looked for once an edit leaves no model named', async ({ skip }) => {
    await using ollama = await fakeOllama();
    if (!ollama) skip('port 11434 is taken');
    await using kernel = await boot({ agents: { defaults: { model: 'demo/demo' } } }, {});
    expect(ref(await choose(kernel))).toBe('demo/demo');
    await kernel.apply([agents, models, modelDemo], {});
    expect(ref(await choose(kernel))).toBe('ollama/qwen3:8b');
  });

  test.each<[string, object, Record<string, string>]>([
    ['a model is named', { agents: { defaults: { model: 'demo/demo' } } }, {}],
    ['the config has models', { models: { providers } }, {}],
    ['a key is set', {}, { OPENAI_API_KEY: 'k' }],
    ['it is switched off', {}, quiet],
  ])('is not looked for where %s', async (_, config, env) => {
    await using ollama = await fakeOllama();
    await using kernel = await boot(config, env);
    await choose(kernel);
    expect(ollama?.paths ?? []).toEqual([]);
  });
});

import { expect, test } from 'vitest';
import { definePlugin } from '../../../kernel/index.ts';
import { AdapterFor, attemptOf, type Model, ModelCatalog, type ModelRequest } from '../../../plugins/models/contract.ts';
import { product } from '../runtime-embedded/product.ts';

const modelOf = (provider: string, id: string, reasoning: boolean): Model => ({
  provider,
  id,
  name: id,
  api: 'wishing',
  baseUrl: 'wishing:',
  contextWindow: 200_000,
  maxTokens: 8000,
  input: ['text'],
  reasoning,
});

/** The product with a model that thinks and one that does not. */
async function wishing(agents: { readonly defaults?: object; readonly list?: readonly object[] }, isDown = false) {
  const requests: ModelRequest[] = [];
  const plugin = definePlugin({
    name: 'wishing',
    description: 'two models of a test',
    setup(ctx) {
      ctx.tap(ModelCatalog, (models) => [...models, modelOf('w', 'thinker', true), modelOf('v', 'talker', false)]);
      const complete = async (request: ModelRequest) => {
        requests.push(request);
        const { model } = request;
        return isDown && model.id === 'thinker'
          ? attemptOf(model, {}, { code: 'MODEL_HTTP', message: 'HTTP 401', status: 401 })
          : attemptOf(model, { content: [{ type: 'text', text: 'fine' }] });
      };
      ctx.tap(AdapterFor, (api) => (api === 'wishing' ? { api, complete } : undefined));
    },
  });
  const p = await product([], { plugins: [plugin], config: { agents: { list: [{ id: 'main' }], ...agents } } });
  const asked = async () => {
    await p.channel.ask('hi');
    const { model, thinking, temperature, maxTokens, system } = requests.at(-1)!;
    return { model: model.id, thinking, temperature, maxTokens, runtime: /thinking=(\w+)/.exec(system)?.[1] };
  };
  return { asked, requests, [Symbol.asyncDispose]: () => p[Symbol.asyncDispose]() };
}

const defaults = { model: 'w/thinker', thinkingDefault: 'high', params: { maxTokens: 1234, temperature: 0.3 } };

test('SPEC 1.1: thinkingDefault and params reach the request, and the prompt says what is asked for', async () => {
  await using w = await wishing({ defaults });
  expect(await w.asked()).toEqual({ model: 'thinker', thinking: 'high', temperature: 0.3, maxTokens: 1234, runtime: 'high' });
});

test('SPEC 1.2: an agent’s own go before the defaults, field by field; 0 and "off" are values', async () => {
  await using w = await wishing({ defaults, list: [{ id: 'main', thinkingDefault: 'off', params: { temperature: 0 } }] });
  expect(await w.asked()).toEqual({ model: 'thinker', thinking: undefined, temperature: 0, maxTokens: 1234, runtime: 'off' });
});

test('without them the request says nothing of it', async () => {
  await using w = await wishing({ defaults: { model: 'w/thinker' } });
  expect(await w.asked()).toEqual({ model: 'thinker', thinking: undefined, temperature: undefined, maxTokens: undefined, runtime: 'off' });
});

test('a model that cannot think is not asked to, and none for a longer answer than it may give', async () => {
  await using w = await wishing({ defaults: { ...defaults, model: 'v/talker', params: { maxTokens: 9999 } } });
  expect(await w.asked()).toEqual({ model: 'talker', thinking: undefined, temperature: undefined, maxTokens: 8000, runtime: 'off' });
});

test('SPEC 7.5: nor is a fallback that cannot think', async () => {
  await using w = await wishing({ defaults: { ...defaults, model: { primary: 'w/thinker', fallbacks: ['v/talker'] } } }, true);
  expect(await w.asked()).toMatchObject({ model: 'talker', thinking: undefined, temperature: 0.3 });
  expect(w.requests[0]).toMatchObject({ model: { id: 'thinker' }, thinking: 'high' });
});

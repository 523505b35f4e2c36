import { expect, test } from 'vitest';
import { invalidArguments, invalidArgumentsOf, type Model } from '../../../plugins/models/contract.ts';
import { withShortCalls } from '../../../plugins/models/short-calls.ts';
import type { AssistantMessage } from '../../../plugins/sessions/contract.ts';
import { mayThink } from '../../../plugins/models-pi/messages.ts';
import { startMock } from '../../support/mock-model.ts';
import { type Api, ask, bootModels, user } from './asking.ts';

type Body = Readonly<Record<string, unknown>>;

/** What a server is sent by a model that is configured so. */
async function bodyOf(api: Api, model: object, asking: Parameters<typeof ask>[3]): Promise<Body> {
  await using mock = await startMock();
  await using kernel = await bootModels(mock.url, model);
  await ask(kernel, api, 'hi', asking);
  return mock.requests.at(-1)?.body as Body;
}
const temperatureIn = (body: Body) => (body['generationConfig'] as Body | undefined)?.['temperature'] ?? body['temperature'];

test.each([
  ['openai-completions', { reasoning: true }, 'high', undefined],
  ['openai-completions', { reasoning: true }, undefined, undefined],
  ['openai-completions', { reasoning: true, compat: { supportsTemperature: true } }, 'high', 0.25],
  ['openai-completions', { reasoning: false }, 'high', 0.25],
  ['openai-completions', { reasoning: false, compat: { supportsTemperature: false } }, undefined, undefined],
  ['openai-responses', { reasoning: true }, 'high', undefined],
  ['openai-responses', { reasoning: false }, undefined, 0.25],
  ['anthropic-messages', { reasoning: true }, undefined, 0.25],
  ['google-generative-ai', { reasoning: true }, undefined, 0.25],
  ['google-generative-ai', { reasoning: true, compat: { supportsTemperature: false } }, undefined, undefined],
] as const)('%s %j, thinking %s: the temperature sent is %s', async (api, model, thinking, due) => {
  const body = await bodyOf(api, model, { temperature: 0.25, ...(thinking && { thinking }) });
  expect(temperatureIn(body)).toBe(due);
});

test.each([
  [1500, undefined, false],
  [2047, undefined, false],
  [2048, undefined, true],
  [8192, 1000, false],
])('Anthropic with room for %d tokens, of which %s are wanted, is asked to think: %s', async (maxTokens, wanted, due) => {
  const asking = { thinking: 'high', ...(wanted && { maxTokens: wanted }) };
  const body = await bodyOf('anthropic-messages', { reasoning: true, maxTokens }, asking);
  expect((body['thinking'] as Body | undefined)?.['type'] === 'enabled').toBe(due);
  const model = { api: 'google-generative-ai', maxTokens } as Model;
  expect(mayThink({ model, messages: [], system: '', tools: [], signal: new AbortController().signal, apiKey: 'k' })).toBe(true);
});

test('of a call that was cut, requests have the beginning, and the same message each time', async () => {
  const raw = `{"content":"${'x'.repeat(60_000)}`;
  const message: AssistantMessage = {
    role: 'assistant',
    content: [
      { type: 'text', text: 'I write' },
      { type: 'toolCall', id: 'c', name: 'write', arguments: invalidArguments(raw) },
      { type: 'toolCall', id: 'd', name: 'write', arguments: { content: 'y'.repeat(9000) } },
    ],
    api: 'x',
    provider: 'p',
    model: 'm',
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
    stopReason: 'length',
    timestamp: 1,
  };
  const short = withShortCalls(message) as AssistantMessage;
  expect(withShortCalls(message)).toBe(short);
  const [said, cut, whole] = short.content;
  expect([said, whole]).toEqual([message.content[0], message.content[2]]);
  expect(cut?.type === 'toolCall' && invalidArgumentsOf(cut)).toBe(`${raw.slice(0, 500)}… [${raw.length - 500} more characters]`);
  const brief = { ...message, content: [message.content[0]!] };
  expect(withShortCalls(brief)).toBe(brief);

  await using mock = await startMock();
  await using kernel = await bootModels(mock.url);
  await ask(kernel, 'openai-completions', [user('go'), { ...message, content: message.content.slice(0, 2) }, user('and now')]);
  const body = JSON.stringify(mock.requests.at(-1)?.body);
  expect(body).toContain('more characters]');
  expect(body.length).toBeLessThan(4000);
});

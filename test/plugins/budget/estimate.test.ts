import { expect, test } from 'vitest';
import { inputTokens, usageOf } from '../../../plugins/budget/estimate.ts';
import { nanosOf, priceOf } from '../../../plugins/budget/price.ts';
import { attemptOf, type Model, type ModelReply, noUsage, type UnsignedRequest } from '../../../plugins/models/contract.ts';

const model: Model = {
  provider: 'p',
  id: 'm',
  name: 'm',
  api: 'openai-completions',
  baseUrl: 'http://127.0.0.1:9/v1',
  contextWindow: 1000,
  maxTokens: 100,
  input: ['text'],
  reasoning: false,
};
const request: UnsignedRequest = {
  model,
  system: 'x'.repeat(400),
  messages: [],
  tools: [],
  signal: new AbortController().signal,
};
const reply = (code: string | undefined, usage = noUsage, text = ''): ModelReply =>
  attemptOf(model, { usage, content: text ? [{ type: 'text', text }] : [] }, code === undefined ? undefined : { code, message: 'm' });
const told = { input: 5, output: 2, cacheRead: 3, cacheWrite: 0, totalTokens: 10 };

test.each([
  ['what the provider tells counts', reply(undefined, told), 10, false],
  ['a failure that tells its usage took it', reply('MODEL_HTTP', told), 10, false],
  ['a request that was turned down took nothing', reply('MODEL_HTTP'), 0, false],
  ['a provider that was not reached took nothing', reply('MODEL_UNREACHABLE'), 0, false],
  ['a stopped request took its input at least', reply('MODEL_ABORTED'), 101, true],
  ['a stream that broke off took what came, too', reply('MODEL_STREAM_CUT', noUsage, 'x'.repeat(400)), 207, true],
  ['an answer without usage is counted by its length', reply(undefined, noUsage, 'x'.repeat(400)), 207, true],
])('%s', (_what, one, tokens, isEstimated) => {
  const { usage, isEstimated: isGuessed } = usageOf(request, one);
  expect([usage.totalTokens, isGuessed]).toEqual([tokens, isEstimated]);
});

test('a picture counts as a picture, and not by the length of its data', () => {
  const image = { type: 'image', data: 'A'.repeat(400_000), mimeType: 'image/png' } as const;
  const tokens = inputTokens({ ...request, messages: [{ role: 'user', content: [image], timestamp: 1 }] });
  expect(tokens).toBeGreaterThan(1600);
  expect(tokens).toBeLessThan(2000);
});

test.each([
  ['budget.prices first', { 'p/m': { input: 1, output: 2 } }, { input: 7, output: 7, cacheRead: 7, cacheWrite: 7 }, 'p/m', 1],
  ['then what the model says', {}, { input: 7, output: 7, cacheRead: 7, cacheWrite: 7 }, 'p/m', 7],
  ['then the table', {}, undefined, 'anthropic/claude-sonnet-4-5', 3],
  ['the table knows a model by any of its dates', {}, undefined, 'anthropic/claude-sonnet-4-5-20991231', 3],
  ['else nobody knows', {}, undefined, 'p/constructor', undefined],
])('a price: %s', (_what, own, cost, ref, input) => {
  const [provider = '', id = ''] = ref.split('/');
  expect(priceOf({ provider, id, ...(cost && { cost }) }, own)?.input).toBe(input);
});

test('cached input without a price of its own costs what input does', () => {
  const price = priceOf({ provider: 'p', id: 'm' }, { 'p/m': { input: 2, output: 8 } });
  expect(nanosOf({ input: 10, output: 1, cacheRead: 5, cacheWrite: 5 }, price)).toBe(48_000);
});

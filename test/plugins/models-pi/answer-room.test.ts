import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AssistantMessage, Message } from '../../../plugins/sessions/contract.ts';
import type { TestKernel } from '../../support/kernel.ts';
import { startMock, type MockModel } from '../../support/mock-model.ts';
import { apis, ask, bootModels, user } from '../models/asking.ts';

let mock: MockModel;
let kernel: TestKernel;
beforeAll(async () => {
  mock = await startMock();
  kernel = await bootModels(mock.url);
});
afterAll(async () => {
  await kernel[Symbol.asyncDispose]();
  await mock[Symbol.asyncDispose]();
});

const roomOf = () => {
  const body = mock.requests.at(-1)?.body as Readonly<Record<string, unknown>>;
  const google = body['generationConfig'] as Readonly<Record<string, unknown>> | undefined;
  return body['max_tokens'] ?? body['max_output_tokens'] ?? google?.['maxOutputTokens'];
};
const reply = (api: string, used: number): AssistantMessage => ({
  role: 'assistant',
  content: [{ type: 'text', text: 'done' }],
  api,
  provider: api,
  model: 'm',
  usage: { input: used, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: used },
  stopReason: 'stop',
  timestamp: 2,
});

test.each(apis)('%s: the answer has the room that this request leaves, whatever an earlier and longer one took', async (api) => {
  await ask(kernel, api, [user('read all'), reply(api, 199_900), user('now write')]);
  expect(roomOf()).toBe(8192);
});

test.each(apis)('%s: a reply of which no usage is known, as an import may bring it, is sent like any other', async (api) => {
  const { usage: _, ...bare } = reply(api, 0);
  for (const extra of [{}, { timestamp: undefined }, { usage: {} }]) {
    const answer = await ask(kernel, api, [user('hi'), { ...bare, ...extra } as unknown as Message, user('more')]);
    expect(answer).toMatchObject({ text: 'echo: more' });
    expect(answer.failure).toBeUndefined();
  }
});

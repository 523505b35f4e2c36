import OpenAI from 'openai';
import events from '../../../plugins/events/index.ts';
import gateway from '../../../plugins/gateway/index.ts';
import openaiHttp from '../../../plugins/openai-http/index.ts';
import { bootTest, entry } from '../../support/kernel.ts';
import { scriptedTurns } from '../../support/scripted-turns.ts';
import { ask, bearer, gatewayOf } from '../gateway/wire.ts';

const settings = (chatCompletions: object) => ({ gateway: { auth: { token: 'right' }, http: { endpoints: { chatCompletions } } } });

/** The endpoint behind a gateway, with turns that the test answers, and a client of it. */
export async function boot(chatCompletions: object = { enabled: true }) {
  const turns = scriptedTurns();
  const plugins = (code: string) => [entry(gateway, code), entry(events, code), turns.plugin, entry(openaiHttp, code)];
  const kernel = await bootTest(plugins('1'), settings(chatCompletions));
  const { url } = await gatewayOf(kernel);
  const client = (options = {}) => new OpenAI({ baseURL: `${url}/v1`, apiKey: 'right', maxRetries: 2, ...options });
  return {
    turns,
    kernel,
    url,
    client: client(),
    clientWith: client,
    reload: (code: string) => kernel.apply(plugins(code), settings(chatCompletions)),
    post: (body: unknown, headers = {}) =>
      ask(`${url}/v1/chat/completions`, { method: 'POST', headers: { ...bearer('right'), ...headers }, body: JSON.stringify(body) }),
    [Symbol.asyncDispose]: () => kernel[Symbol.asyncDispose](),
  };
}

export const hello = { model: 'instar', messages: [{ role: 'user' as const, content: 'hello' }] };

export async function read(stream: AsyncIterable<OpenAI.ChatCompletionChunk>) {
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
  return { chunks, text };
}

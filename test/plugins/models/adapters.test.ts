import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { invalidArgumentsOf } from '../../../plugins/models/contract.ts';
import type { Message, ToolCallPart } from '../../../plugins/sessions/contract.ts';
import type { TestKernel } from '../../support/kernel.ts';
import { startMock, type MockModel } from '../../support/mock-model.ts';
import { apis, ask, bootModels, key, user, type Asked } from './asking.ts';

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

const callsOf = (reply: Asked) => reply.message.content.filter((part): part is ToolCallPart => part.type === 'toolCall');
const resultOf = (call: ToolCallPart, text: string): Message => ({
  role: 'toolResult',
  toolCallId: call.id,
  toolName: call.name,
  isError: false,
  timestamp: 1,
  content: [{ type: 'text', text }],
});
const seen = () => mock.requests.at(-1)!;

describe.each(apis)('%s', (api) => {
  test('a text comes whole, with who said it', async () => {
    const reply = await ask(kernel, api, 'hello there');
    expect(reply.failure).toBeUndefined();
    expect(reply.text).toBe('echo: hello there');
    expect(reply.message).toMatchObject({ role: 'assistant', api, provider: api, model: 'm', stopReason: 'stop' });
    expect(seen().asked.system).toBe('You are a test.');
  });

  test('a text streams delta by delta', async () => {
    const reply = await ask(kernel, api, '[[chunks:5]]');
    const deltas = reply.events.map((event) => (event.type === 'text' ? event.delta : event));
    expect(deltas).toEqual(['tok0 ', 'tok1 ', 'tok2 ', 'tok3 ', 'tok4 ']);
    expect(reply.text).toBe('tok0 tok1 tok2 tok3 tok4 ');
  });

  test('thinking is told apart from the answer', async () => {
    const reply = await ask(kernel, api, '[[think:let me see]]');
    expect(reply.message.content[0]).toMatchObject({ type: 'thinking', thinking: 'let me see' });
    expect(reply.events[0]).toMatchObject({ type: 'thinking', index: 0, delta: 'let me see' });
    expect(reply.text).toBe('thought');
  });

  test('a tool is called, answered, and the answer goes on', async () => {
    const question = user('[[tool:read {"path":"a]].txt"}]]');
    const first = await ask(kernel, api, [question]);
    const [call] = callsOf(first);
    expect(call).toMatchObject({ name: 'read', arguments: { path: 'a]].txt' } });
    expect(first.message.stopReason).toBe('toolUse');
    const deltas = first.events.filter((event) => event.type === 'toolCall');
    expect(deltas.at(-1)).toMatchObject({ id: call!.id, name: 'read' });
    expect(deltas.map(({ delta }) => delta).join('')).toBe('{"path":"a]].txt"}');
    const second = await ask(kernel, api, [question, first.message, resultOf(call!, 'the content')]);
    expect(second.text).toBe('done: 1 tool result(s)');
    expect(seen().asked.lastResult).toContain('the content');
  });

  test('parallel calls keep their order and have ids of their own', async () => {
    const question = user('[[par:3 read {"path":"$i.txt"}]]');
    const first = await ask(kernel, api, [question]);
    const calls = callsOf(first);
    expect(calls.map((call) => call.arguments)).toEqual([{ path: '0.txt' }, { path: '1.txt' }, { path: '2.txt' }]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3);
    const second = await ask(kernel, api, [question, first.message, ...calls.map((call) => resultOf(call, call.id))]);
    expect(second.text).toBe('done: 3 tool result(s)');
  });

  test('images reach the model, those of a tool too', async () => {
    const image = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' } as const;
    await ask(kernel, api, [user([{ type: 'text', text: 'look' }, image])]);
    expect(seen().asked).toMatchObject({ texts: ['look'], images: 1 });
    const question = user('[[tool:read {"path":"a.png"}]]');
    const first = await ask(kernel, api, [question]);
    const result: Message = { ...(resultOf(callsOf(first)[0]!, 'an image') as Extract<Message, { role: 'toolResult' }>), content: [image] };
    await ask(kernel, api, [question, first.message, result]);
    expect(JSON.stringify(seen().body)).toContain(image.data);
  });

  test('tokens are counted, cached ones apart', async () => {
    const reply = await ask(kernel, api, '[[usage:1000,20,600]]');
    expect(reply.message.usage).toEqual({ input: 400, output: 20, cacheRead: 600, cacheWrite: 0, totalTokens: 1020 });
  });

  test.each([
    [401, { status: 401 }, /refused the key \(HTTP 401: .*Incorrect API key.*\); check models\.providers\..*\.apiKey/],
    [404, { status: 404 }, /was not found .*; check the model's id and models\.providers\..*\.baseUrl/],
    [429, { status: 429, retryAfterMs: 1000 }, /has reached a limit \(HTTP 429: Rate limit reached.*\); wait 1 s/],
    [500, { status: 500 }, /has trouble \(HTTP 500: The server had an error/],
  ])('an answer of HTTP %i is a failure that says what to do, and is not tried again', async (status, facts, words) => {
    const before = mock.requests.length;
    const reply = await ask(kernel, api, `[[status:${status}]]`);
    expect(reply.failure).toMatchObject({ code: 'MODEL_HTTP', ...facts });
    expect(reply.failure!.message).toMatch(words);
    expect(reply.failure!.message).not.toMatch(/\n/);
    expect(reply.failure!.body).toContain('"error"');
    expect(reply.message).toMatchObject({ stopReason: 'error', content: [], errorMessage: reply.failure!.message });
    expect(mock.requests.length).toBe(before + 1);
  });

  test('a conversation that is too long says so', async () => {
    const reply = await ask(kernel, api, '[[overflow]]');
    expect(reply.failure).toMatchObject({ code: 'MODEL_HTTP', status: 400 });
    expect(reply.failure!.message).toMatch(/got too long a conversation .*\/new/);
  });

  test('a stream that is cut keeps the text that came', async () => {
    const reply = await ask(kernel, api, '[[drop]]');
    expect(reply.failure).toMatchObject({ code: 'MODEL_STREAM_CUT' });
    expect(reply.message).toMatchObject({ stopReason: 'error', content: [{ type: 'text', text: 'this reply ' }] });
  });

  test('a stream that is cut inside the arguments leaves no call behind', async () => {
    const reply = await ask(kernel, api, '[[cut-in-args:read]]');
    expect(reply.failure).toMatchObject({ code: 'MODEL_STREAM_CUT' });
    expect(callsOf(reply)).toEqual([]);
  });

  test('a stop takes effect at once, and keeps what came', async () => {
    const stop = new AbortController();
    const reply = await ask(kernel, api, '[[chunks:5000 every=20]]', { signal: stop.signal, on: () => stop.abort() });
    expect(reply.failure).toMatchObject({ code: 'MODEL_ABORTED' });
    expect(reply.message.stopReason).toBe('aborted');
    expect(reply.text).toMatch(/^tok0 /); // and not the words of more than a minute that would have followed
  });

  test('a stop before the request asks nobody', async () => {
    const before = mock.requests.length;
    const reply = await ask(kernel, api, 'hello', { signal: AbortSignal.abort() });
    expect(reply.failure).toMatchObject({ code: 'MODEL_ABORTED' });
    expect(mock.requests.length).toBe(before);
  });

  test('the request says that it comes from Instar, with the key of the config', async () => {
    await ask(kernel, api, 'hello');
    const { headers, path } = seen();
    expect(headers['user-agent']).toBe('instar/0.0.0-test');
    const sent = [headers.authorization, headers['x-api-key'], headers['x-goog-api-key'], path].join(' ');
    expect(sent).toContain(key);
  });

  test('a server that is not there is named, with what to do', async () => {
    const port = await freePort();
    await using away = await bootModels(`http://127.0.0.1:${port}`);
    const reply = await ask(away, api, 'hello');
    expect(reply.failure).toMatchObject({ code: 'MODEL_UNREACHABLE' });
    expect(reply.failure!.message).toContain(
      `${api}/m is not reachable: 127.0.0.1:${port} refused the connection; check that the server runs and models.providers.${api}.baseUrl`,
    );
  });

  test('a server that does not speak TLS is told apart', async () => {
    await using away = await bootModels(mock.url.replace('http:', 'https:'));
    const reply = await ask(away, api, 'hello');
    expect(reply.failure).toMatchObject({ code: 'MODEL_UNREACHABLE' });
    expect(reply.failure!.message).toMatch(/no secure connection to 127\.0\.0\.1:\d+ \(TLS: \w+\)/);
  });

  test('what costs money is counted in it', async () => {
    const cost = { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 };
    await using priced = await bootModels(mock.url, { cost });
    const reply = await ask(priced, api, '[[usage:1000,20,600]]');
    expect(reply.message.usage.cost?.total).toBeCloseTo((400 * 2 + 20 * 10 + 600 * 0.1) / 1e6, 12);
  });
});

test.each(['openai-completions', 'openai-responses', 'anthropic-messages'])(
  '%s: arguments that are no JSON come back as they are, so that the model can be told',
  async (api) => {
    const question = user('[[badargs:read]]');
    const first = await ask(kernel, api, [question]);
    const [call] = callsOf(first);
    expect(first.failure).toBeUndefined();
    expect(invalidArgumentsOf(call!)).toBe('{"path": "a.txt", "content": "half');
    const second = await ask(kernel, api, [question, first.message, resultOf(call!, 'not valid JSON')]);
    expect(second.text).toBe('done: 1 tool result(s)');
  },
);

test('google-generative-ai: a call that Google could not read is a failure', async () => {
  const reply = await ask(kernel, 'google-generative-ai', '[[badargs:read]]');
  expect(reply.failure).toMatchObject({ code: 'MODEL_BAD_REPLY' });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { piAdapter } from '../../../plugins/models-pi/adapter.ts';
import { partsOf, piModel } from '../../../plugins/models-pi/conversation.ts';
import { failureOf } from '../../../plugins/models-pi/failure.ts';
import { protocols, type Protocol } from '../../../plugins/models-pi/protocols.ts';
import { invalidArguments, type Model, type ModelRequest } from '../../../plugins/models/contract.ts';
import { startMock } from '../../support/mock-model.ts';

const model: Model = {
  provider: 'anthropic',
  id: 'claude-sonnet-5-5',
  name: 'x',
  api: 'anthropic-messages',
  baseUrl: 'https://api.anthropic.com',
  contextWindow: 200_000,
  maxTokens: 8192,
  input: ['text'],
  reasoning: true,
};
const anthropic = protocols.find(({ api }) => api === 'anthropic-messages')!;

const request = (baseUrl: string): ModelRequest => ({
  model: { ...model, baseUrl },
  system: '',
  tools: [],
  apiKey: undefined,
  signal: new AbortController().signal,
  messages: [{ role: 'user', content: 'hello', timestamp: 1 }],
});

test.each([
  ['is absent', Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' }), 'it is not installed'],
  ['is broken', new SyntaxError('odd'), 'it cannot be loaded (odd)'],
])('a package that %s is a failure with the command that installs it', async (_, error, words) => {
  const missing: Protocol = { ...anthropic, load: () => Promise.reject(error) };
  const { failure, message } = await piAdapter(missing, 'instar/test').complete(request('http://127.0.0.1:9'), () => {});
  expect(failure).toMatchObject({ code: 'ADAPTER_MISSING' });
  expect(failure!.message).toContain(words);
  expect(failure!.message).toContain('npm install @earendil-works/pi-ai@1.6.0');
  expect(message.stopReason).toBe('error');
});

test('a server without a key of its own is asked all the same, with or without /v1 in its address', async () => {
  await using mock = await startMock();
  for (const url of [mock.url, `${mock.url}/v1`]) {
    const { failure } = await piAdapter(anthropic, 'instar/test').complete(request(url), () => {});
    expect(failure).toBeUndefined();
    expect(mock.requests.at(-1)!.path).toMatch(/^\/v1\/messages/);
  }
});

test('a maker’s own model has its quirks from the catalog; compat in the config wins', async () => {
  const models = (await anthropic.catalog()) as Readonly<Record<string, { readonly compat?: object }>>;
  const peculiar = models[model.id]!;
  expect(peculiar.compat).toMatchObject({ supportsTemperature: false });
  expect(piModel(model, peculiar).compat).toMatchObject({ supportsTemperature: false, supportsMessageThreads: false });
  expect(piModel({ ...model, compat: { supportsTemperature: true } }, peculiar).compat).toMatchObject({ supportsTemperature: true });
});

test.each<[string, string | undefined, object]>([
  ['{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', undefined, { code: 'MODEL_HTTP', status: 529 }],
  ['openai API error: rate_limit_exceeded: slow down', undefined, { code: 'MODEL_HTTP', status: 429 }],
  ['Error Code server_error: oops', undefined, { code: 'MODEL_HTTP', status: 500 }],
  ['The model refused to complete the request', 'refusal', { code: 'MODEL_REFUSED' }],
  ['Provider stopped with: SAFETY', 'SAFETY', { code: 'MODEL_REFUSED' }],
  ['Anthropic stream ended before message_stop', undefined, { code: 'MODEL_STREAM_CUT' }],
  ['terminated', undefined, { code: 'MODEL_STREAM_CUT' }],
  ['Unhandled stop reason: new', undefined, { code: 'MODEL_BAD_REPLY' }],
])('what a stream ends with is sorted: %s', (text, reason, failure) => {
  expect(failureOf({ status: 200 }, text, reason, false)).toMatchObject(failure);
});

test.each(protocols)('$api: a server that goes on talking after an error is hung up on', async (protocol) => {
  const gone = Promise.withResolvers<void>();
  const error = { type: 'error', error: { type: 'api_error', message: 'x', code: 500, status: 'INTERNAL' } };
  const server = createServer((asked, response) => {
    asked.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.on('close', () => gone.resolve());
      const named = protocol.maker === 'google' ? '' : 'event: error\n';
      response.write(`${named}data: ${JSON.stringify(error)}\n\n`);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const asked = { ...request(`http://127.0.0.1:${port}`), apiKey: 'key' };
  const { failure } = await piAdapter(protocol, 'instar/test').complete(
    { ...asked, model: { ...asked.model, api: protocol.api } },
    () => {},
  );
  expect(failure).toBeDefined();
  await gone.promise;
  server.close();
});

test('a call that the length limit cut before its first argument cannot run', () => {
  const part = (name: string) => ({ type: 'toolCall', id: name, name, arguments: {} }) as const;
  const whole = () => undefined;
  const reply = (stopReason: string) => ({ content: [part('a'), part('b')], stopReason }) as never;
  expect(partsOf(reply('length'), [], whole)).toEqual([part('a'), { ...part('b'), arguments: invalidArguments('') }]);
  expect(partsOf(reply('toolUse'), [], whole)).toEqual([part('a'), part('b')]);
});

test('Google’s calls come whole: one without arguments runs, also in a reply that reached its limit', () => {
  const call = { type: 'toolCall', id: 'a', name: 'a', arguments: {} } as const;
  const reply = { content: [call], stopReason: 'length', api: 'google-generative-ai' } as never;
  expect(partsOf(reply, [], () => undefined)).toEqual([call]);
});

test('a call whose end never came does not run with the part of its arguments that did', async () => {
  const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'write', arguments: '', status: 'in_progress' };
  const usage = { input_tokens: 1, output_tokens: 5, total_tokens: 6 };
  const events = [
    { type: 'response.created', response: { id: 'r' } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'fc_1', delta: '{"path":"a","content":' },
    { type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'fc_1', delta: '"half of' },
    {
      type: 'response.incomplete',
      response: { id: 'r', status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, usage },
    },
  ];
  const server = createServer((asked, response) => {
    asked.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const asked = { ...request(`http://127.0.0.1:${port}`), apiKey: 'key' };
  const responses = protocols.find(({ api }) => api === 'openai-responses')!;
  const { failure, message } = await piAdapter(responses, 'instar/test').complete(
    { ...asked, model: { ...asked.model, api: responses.api } },
    () => {},
  );
  expect(failure).toBeUndefined();
  expect(message).toMatchObject({
    stopReason: 'length',
    content: [{ name: 'write', arguments: invalidArguments('{"path":"a","content":"half of') }],
  });
  server.close().closeAllConnections();
});

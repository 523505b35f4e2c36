import { writeFileSync } from 'node:fs';
import OpenAI, { AuthenticationError, RateLimitError } from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Gateway, instar, startGateway, tempHome, withMock } from '../support/instar.ts';
import { type MockModel, startMock } from '../support/mock-model.ts';

let mock: MockModel;
let gateway: Gateway;
let client: OpenAI;
const place = tempHome();

beforeAll(async () => {
  mock = await startMock();
  writeFileSync(place.file, JSON.stringify(withMock(mock.url, place.home)));
  gateway = await startGateway(place.home);
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.token, maxRetries: 0 });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await mock[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

const ask = (content: string, more: object = {}, headers: Record<string, string> = {}) =>
  client.chat.completions.create({ model: 'instar/default', messages: [{ role: 'user', content }], ...more, stream: false }, { headers });

test('SPEC 11.1: the official client gets text and usage', async () => {
  const reply = await ask('hello');
  expect(reply.choices[0]).toMatchObject({ finish_reason: 'stop', message: { role: 'assistant', content: 'echo: hello' } });
  expect(reply.usage?.total_tokens).toBeGreaterThan(0);
});

test('SPEC 11.1: it streams, with usage at the end where asked', async () => {
  const stream = await client.chat.completions.create({
    model: 'instar/main',
    stream: true as const,
    stream_options: { include_usage: true },
    messages: [
      {
        role: 'user',
        content: '[[chunks:5]]',
      },
    ],
  });
  let text = '';
  let total: number | undefined;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? '';
    total = chunk.usage?.total_tokens ?? total;
  }
  expect(text).toBe('tok0 tok1 tok2 tok3 tok4 ');
  expect(total).toBeGreaterThan(0);
});

test('SPEC 11.1: models are the agents', async () => {
  const ids: string[] = [];
  for await (const model of client.models.list()) ids.push(model.id);
  expect(ids).toEqual(expect.arrayContaining(['instar/default', 'instar/main', 'instar/other']));
});

test('SPEC 11.1: the openclaw names mean the same', async () => {
  for (const model of ['openclaw', 'openclaw/default', 'openclaw/main', 'instar'])
    expect((await ask('x', { model })).choices[0]?.message.content).toBe('echo: x');
});

test('an unknown agent, client-side tools and a wrong token are errors of the shape the client expects', async () => {
  await expect(ask('x', { model: 'instar/nobody' })).rejects.toMatchObject({ status: 404, code: expect.any(String) });
  await expect(ask('x', { tools: [{ type: 'function', function: { name: 'f', parameters: {} } }] })).rejects.toMatchObject({ status: 400 });
  const stranger = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'wrong', maxRetries: 0 });
  await expect(stranger.models.list()).rejects.toBeInstanceOf(AuthenticationError);
});

test('a session is named by the header or by user, and takes only what is new; without one the messages are the history', async () => {
  const session = { 'x-instar-session-key': 'agent:main:named' };
  await ask('first thing', {}, session);
  await client.chat.completions.create(
    {
      model: 'instar/main',
      messages: [
        { role: 'user', content: 'ignored' },
        { role: 'assistant', content: 'old' },
        { role: 'user', content: 'second thing' },
      ],
    },
    { headers: session },
  );
  const named = JSON.stringify(mock.bodies().at(-1)?.['messages']);
  expect(named).toContain('first thing');
  expect(named).not.toContain('ignored');
  await client.chat.completions.create({
    model: 'instar/main',
    messages: [
      { role: 'user', content: 'told before' },
      { role: 'assistant', content: 'an answer' },
      { role: 'user', content: 'and now' },
    ],
  });
  const stateless = JSON.stringify(mock.bodies().at(-1)?.['messages']);
  for (const text of ['told before', 'an answer', 'and now']) expect(stateless).toContain(text);
  expect(stateless).not.toContain('first thing');
});

test('an error of the model reaches the client with its class and what to do', async () => {
  await expect(ask('[[status:401]]')).rejects.toMatchObject({
    status: 502,
    message: expect.stringContaining('check models.providers.mock.apiKey'),
  });
  await expect(ask('[[status:429]]')).rejects.toBeInstanceOf(RateLimitError);
});

test('a client that goes away cancels its run', async () => {
  const abort = new AbortController();
  const asked = client.chat.completions.create(
    { model: 'instar/main', messages: [{ role: 'user', content: '[[slow:20000]]' }] },
    { signal: abort.signal },
  );
  asked.catch(() => {});
  await expect.poll(() => JSON.stringify(mock.bodies().at(-1)), { interval: 10 }).toContain('slow:20000');
  abort.abort();
  await expect(asked).rejects.toThrow();
  const running = async () => (JSON.parse((await instar(place.home, ['status', '--json'])).stdout) as { active: unknown[] }).active;
  await expect.poll(running, { timeout: 10_000 }).toEqual([]);
  expect((await ask('still here')).choices[0]?.message.content).toBe('echo: still here');
});

test('the endpoint is off unless it is switched on', async () => {
  using home = tempHome({});
  await using plain = await startGateway(home.home);
  expect((await plain.get('/v1/models')).status).toBe(404);
});

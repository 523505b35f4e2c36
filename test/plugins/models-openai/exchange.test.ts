import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { stillClock } from '../../support/still-clock.ts';
import { delta, modelAt, scripted, stream } from './scripted.ts';

const hello = stream([delta({ content: 'hi' }), delta({}, 'stop'), '[DONE]']);

test('requests one after the other share a connection', async () => {
  await using server = await scripted(hello);
  let connected = 0;
  server.server.on('connection', () => connected++);
  for (let i = 0; i < 5; i++) expect((await server.ask()).failure).toBeUndefined();
  expect(connected).toBe(1);
});

test('a kept connection that the server closed meanwhile is no failure', async () => {
  await using server = await scripted(hello);
  const sockets: Socket[] = [];
  server.server.on('connection', (socket) => sockets.push(socket));
  // The server closes the moment it sees the second request on the old connection.
  let requests = 0;
  server.server.prependListener('request', (request: { socket: Socket }) => {
    if (++requests === 2) request.socket.resetAndDestroy();
  });
  expect((await server.ask()).failure).toBeUndefined();
  expect((await server.ask()).failure).toBeUndefined();
  expect(sockets.length).toBe(2);
});

test('a server that closes a new connection without an answer is unreachable', async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await using adapter = await scripted(hello);
  const { port } = server.address() as AddressInfo;
  const { failure } = await adapter.ask({ model: modelAt(`http://127.0.0.1:${port}/v1`) });
  expect(failure).toMatchObject({ code: 'MODEL_UNREACHABLE', cause: { code: 'ECONNRESET' } });
  server.close();
});

test('a stop while the server is silent ends the wait and the connection', async () => {
  const closed = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  await using server = await scripted((request) => {
    request.socket.once('close', () => closed.resolve());
    asked.resolve();
  });
  const stop = new AbortController();
  const answer = server.ask({ signal: stop.signal });
  await asked.promise;
  stop.abort();
  expect((await answer).failure).toMatchObject({ code: 'MODEL_ABORTED' }); // the server never says a word
  await closed.promise;
});

test('a server that keeps the stream open after its end is not waited for', async () => {
  await using server = await scripted((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify(delta({ content: 'hi' }, 'stop'))}\n\ndata: [DONE]\n\n`);
  });
  expect((await server.ask()).message.content).toEqual([{ type: 'text', text: 'hi' }]);
});

test('a signal of many requests keeps no listener of those that ended', async () => {
  await using server = await scripted(hello);
  const { signal } = new AbortController();
  for (let i = 0; i < 3; i++) await server.ask({ signal });
  await expect.poll(() => getEventListeners(signal, 'abort'), { interval: 5 }).toEqual([]);
});

describe('a server that goes on talking', () => {
  const clock = stillClock();
  /** Never ends its answer. `gone` settles when its connection does. */
  async function endless(first: string) {
    const gone = Promise.withResolvers<void>();
    const server = await scripted((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.on('close', () => gone.resolve());
      response.write(first);
    });
    return Object.assign(server, { gone: gone.promise });
  }
  const whole = `data: ${JSON.stringify(delta({ content: 'hi' }, 'stop'))}\n\ndata: [DONE]\n\n`;

  test.each([
    ['said what is no JSON', 'data: <html>\n\n', 'MODEL_BAD_REPLY'],
    ['told of an error', 'data: {"error":{"message":"x","code":500}}\n\n', 'MODEL_HTTP'],
  ])('after it %s is hung up on at once', async (_, first, code) => {
    await using server = await endless(first);
    expect((await server.ask()).failure).toMatchObject({ code });
    await server.gone;
  });

  test('after its last word is hung up on a second later: until then it may end, and the connection be used again', async () => {
    await using server = await endless(whole);
    let isGone = false;
    void server.gone.then(() => (isGone = true));
    expect((await server.ask()).failure).toBeUndefined();
    await clock.passes(0.9);
    expect(isGone).toBe(false);
    await clock.passes(0.2);
    await server.gone;
  });

  test('after its last word is hung up on by a stop', async () => {
    await using server = await endless(whole);
    const stop = new AbortController();
    expect((await server.ask({ signal: stop.signal })).failure).toBeUndefined();
    stop.abort();
    await server.gone;
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  });
});

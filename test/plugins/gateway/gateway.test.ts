import { once } from 'node:events';
import { Agent, createServer, request as open } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { definePlugin, StartReport } from '../../../kernel/index.ts';
import { type Client, type Method, Methods, type Route, Routes } from '../../../plugins/gateway/contract.ts';
import gateway from '../../../plugins/gateway/index.ts';
import { bootTest, entry, testKernel } from '../../support/kernel.ts';
import { ask, bearer, connect, gatewayOf } from './wire.ts';

const config = { gateway: { auth: { token: 'right' } } };

/** Routes and methods of a plugin under test. */
const extra = (routes: readonly Route[], methods: Readonly<Record<string, Method>> = {}) =>
  definePlugin({
    name: 'extra',
    description: 'routes and methods',
    setup(ctx) {
      ctx.tap(Routes, (before) => [...before, ...routes]);
      ctx.tap(Methods, (before) => ({ ...before, ...methods }));
    },
  });

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}

test('the start is announced and reported with the token in the fragment of the address, never in the query', async () => {
  const announced: unknown[] = [];
  await using kernel = await bootTest([gateway], config, { announce: (facts) => announced.push(facts) });
  const { url, token } = await gatewayOf(kernel);
  expect(announced).toEqual([{ url, port: Number(new URL(url).port) }]);
  const report = await kernel.kernel.run((run) => run.call(StartReport, []));
  expect(report).toEqual([{ label: 'page', value: `${url}/#token=${token}` }]);
});

test('a port in use is one error that says how to find who has it and how to choose another', async () => {
  await using first = await bootTest([gateway], config);
  const { url } = await gatewayOf(first);
  const { port } = new URL(url);
  const second = testKernel({ flags: { port } });
  const problem = await (await second).apply([gateway], config).catch((error: unknown) => error);
  expect(problem).toMatchObject({ code: 'GATEWAY_PORT_IN_USE' });
  expect((problem as Error).message).toMatch(new RegExp(`${port}.*lsof -i :${port}.*--port`));
  expect((problem as Error).message).not.toContain('\n');
  await (await second)[Symbol.asyncDispose]();
  expect((await ask(`${url}/readyz`)).text).toBe('{"ok":true}');
});

test.each(['', 'http', '70000', '-1', '1.5'])('--port %j is refused before anything listens', async (port) => {
  await using kernel = await testKernel({ flags: { port } });
  await expect(kernel.apply([gateway], config)).rejects.toMatchObject({ code: 'GATEWAY_PORT_INVALID' });
});

test('what arrives before the first generation is live is held, then answered by it', async () => {
  const port = await freePort();
  await using kernel = await testKernel({ flags: { port: String(port) } });
  const bound = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const slow = definePlugin({
    name: 'slow',
    description: 'takes its time in setup',
    async setup(ctx) {
      ctx.tap(Routes, (routes): readonly Route[] => [
        ...routes,
        { method: 'GET', path: '/slow', handle: (exchange) => exchange.reply(200, 'served') },
      ]);
      bound.resolve();
      await release.promise;
    },
  });
  const applied = kernel.apply([gateway, slow], config);
  await bound.promise;
  expect((await ask(`http://127.0.0.1:${port}/healthz`)).status).toBe(503);
  const held = ask(`http://127.0.0.1:${port}/slow`, { headers: bearer('right') });
  release.resolve();
  await applied;
  expect((await held).text).toBe('served');
  expect((await ask(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
});

test('SPEC 14.4: a reload of the gateway keeps sockets and connections, and its new code answers on them', async () => {
  await using kernel = await bootTest([gateway], config);
  const { url } = await gatewayOf(kernel);
  await using peer = await connect(url, 'right');
  expect(peer.frames[0]).toEqual({ event: 'hello', data: { version: '0.0.0-test', generation: 1 } });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const localPort = async () => {
    const [response] = await once(open(`${url}/readyz`, { agent }).end(), 'response');
    const port = response.socket.localPort as number;
    response.resume();
    await once(response, 'end');
    return port;
  };
  const before = await localPort();

  await kernel.apply([entry(gateway, '2')], { gateway: { ...config.gateway, allowedOrigins: ['http://new.example'] } });
  const broken = definePlugin({ name: 'broken', description: 'fails', required: true, setup: () => Promise.reject(new Error('no')) });
  await expect(kernel.apply([entry(gateway, '3'), broken], config)).rejects.toMatchObject({ code: 'SETUP_FAILED' });

  expect((await gatewayOf(kernel)).url).toBe(url);
  expect(await localPort()).toBe(before);
  expect((await ask(`${url}/readyz`, { headers: { origin: 'http://new.example' } })).status).toBe(200);
  const { result } = await peer.call('status');
  expect(result).toMatchObject({ inspection: { generation: 2, leases: [{ key: 'tcp:127.0.0.1:0', holders: 1 }] }, active: [] });
  agent.destroy();
});

test('another port in the config moves the listener; requests in flight on the old one finish', async () => {
  const [a, b] = [await freePort(), await freePort()];
  const answer = Promise.withResolvers<string>();
  const entered = Promise.withResolvers<void>();
  const slow = extra([
    {
      method: 'GET',
      path: '/slow',
      async handle(exchange) {
        entered.resolve();
        exchange.reply(200, await answer.promise);
      },
    },
  ]);
  await using kernel = await testKernel({ flags: {} });
  const at = (port: number) => kernel.apply([gateway, slow], { gateway: { port, auth: { token: 'right' } } });
  await at(a);
  const inFlight = ask(`http://127.0.0.1:${a}/slow`, { headers: bearer('right') });
  await entered.promise;
  await at(b);
  expect((await ask(`http://127.0.0.1:${b}/readyz`)).status).toBe(200);
  await expect(ask(`http://127.0.0.1:${a}/readyz`)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await at(a); // and back, while the first one still drains
  expect((await ask(`http://127.0.0.1:${a}/readyz`)).status).toBe(200);
  answer.resolve('finished');
  expect((await inFlight).text).toBe('finished');
});

test('an orderly stop takes in nothing more, finishes what it has, and says goodbye to sockets', async () => {
  const answer = Promise.withResolvers<string>();
  const entered = Promise.withResolvers<void>();
  const slow = extra([
    {
      method: 'GET',
      path: '/slow',
      async handle(exchange) {
        entered.resolve();
        exchange.reply(200, await answer.promise);
      },
    },
  ]);
  await using kernel = await bootTest([gateway, slow], config);
  const { url } = await gatewayOf(kernel);
  await using peer = await connect(url, 'right');
  const inFlight = ask(`${url}/slow`, { headers: bearer('right') });
  await entered.promise;
  const drained = kernel.kernel.drain();
  await expect(ask(`${url}/readyz`)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  answer.resolve('finished');
  expect((await inFlight).text).toBe('finished');
  expect(await peer.closed).toMatchObject({ code: 1001 });
  await drained;
});

test('SPEC U247: a failing route and a failing method tell an id, and the log holds the cause under it', async () => {
  const fails = () => {
    throw new Error('the disk is full');
  };
  await using kernel = await bootTest([gateway, extra([{ method: 'GET', path: '/fails', handle: fails }], { fails })], config);
  const { url } = await gatewayOf(kernel);
  await using peer = await connect(url, 'right');
  const got = await ask(`${url}/fails`, { headers: bearer('right') });
  const failed = await peer.call('fails');
  expect(got.status).toBe(500);
  const errors = [JSON.parse(got.text).error, failed.error] as { code: string; message: string }[];
  for (const { code, message } of errors) {
    expect(code).toBe('INTERNAL');
    const id = /error ([0-9a-f]{8})/.exec(message)?.[1];
    expect(kernel.records.filter((record) => record.id === id)).toMatchObject([{ level: 'error', error: { message: 'the disk is full' } }]);
  }
  expect((await peer.call('status')).ok).toBe(true);
});

test('a frame that is no call, an unknown method and an answer that is no JSON each get an error; the socket stays', async () => {
  const methods = { big: () => ({ n: 1n }), nothing: () => undefined };
  await using kernel = await bootTest([gateway, extra([], methods)], config);
  const { url } = await gatewayOf(kernel);
  await using peer = await connect(url, 'right');
  const nonsense = ['', 'no', '[]', 'null', '{}', '{"id":{}}', '{"id":1}', '{"id":2,"method":"status","params":[]}'];
  for (const text of nonsense) peer.socket.send(text);
  await peer.frame(({ id }) => id === null);
  expect(await peer.call('statsu')).toMatchObject({ error: { code: 'GATEWAY_NO_METHOD', message: expect.stringContaining('"status"') } });
  expect(await peer.call('toString')).toMatchObject({ ok: false, error: { code: 'GATEWAY_NO_METHOD' } });
  expect(await peer.call('big')).toMatchObject({ ok: false, error: { code: 'INTERNAL' } });
  expect(await peer.call('nothing')).toMatchObject({ ok: true });
  expect(peer.frames.filter(({ error }) => error?.code === 'GATEWAY_FRAME')).toHaveLength(nonsense.length);
  peer.socket.send(Buffer.from('binary'));
  expect(await peer.closed).toMatchObject({ code: 1003 });
});

test('a client that does not read is asked to wait for, and past the bound cut off with the code to come back on', async () => {
  const waits: boolean[] = [];
  const flooded = Promise.withResolvers<void>();
  const flood = (_params: unknown, client: Client) => {
    for (let i = 0; i < 32; i++) waits.push(client.send('flood', 'x'.repeat(1024 * 1024)) instanceof Promise);
    flooded.resolve();
  };
  await using kernel = await bootTest([gateway, extra([], { flood })], config);
  const { url } = await gatewayOf(kernel);
  await using peer = await connect(url, 'right');
  peer.socket.pause();
  peer.socket.send('{"id":1,"method":"flood"}');
  await flooded.promise;
  peer.socket.resume();
  expect(await peer.closed).toEqual({ code: 4008, reason: 'missed: replay from your cursor' });
  expect(waits[0]).toBe(false);
  expect(waits.filter(Boolean).length).toBeGreaterThan(4);
  expect(peer.frames.length).toBeLessThan(32);
});

test('a stream ends early for a client that left, and its signal says so', async () => {
  const left = Promise.withResolvers<void>();
  const route: Route = {
    method: 'GET',
    path: '/stream',
    async handle(exchange) {
      const stream = exchange.stream();
      await stream.send('first');
      await new Promise((resolve) => exchange.signal.addEventListener('abort', resolve));
      await stream.send('to nobody');
      await stream.end();
      expect(await exchange.flushed).toBe(false);
      left.resolve();
    },
  };
  await using kernel = await bootTest([gateway, extra([route])], config);
  const { url } = await gatewayOf(kernel);
  const request = open(`${url}/stream`, { headers: bearer('right') }).end();
  request.on('error', () => {});
  const [response] = await once(request, 'response');
  const [first] = await once(response, 'data');
  expect(String(first)).toBe('data: first\n\n');
  response.on('error', () => {});
  request.destroy();
  await left.promise;
});

test('two plugins that answer one path: the first does, and the log says so', async () => {
  const twice = [1, 2].map((n): Route => ({ method: 'GET', path: '/x', handle: (exchange) => exchange.reply(200, `${n}`) }));
  await using kernel = await bootTest([gateway, extra(twice)], config);
  const { url } = await gatewayOf(kernel);
  expect((await ask(`${url}/x`, { headers: bearer('right') })).text).toBe('1');
  expect(kernel.records).toContainEqual(expect.objectContaining({ level: 'warn', message: expect.stringContaining('GET /x') }));
});

import { readFile, stat } from 'node:fs/promises';
import { connect as openSocket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { definePlugin } from '../../../kernel/index.ts';
import { type Route, Routes } from '../../../plugins/gateway/contract.ts';
import { Failures } from '../../../plugins/gateway/failures.ts';
import gateway from '../../../plugins/gateway/index.ts';
import { bootTest, entry, type TestKernel } from '../../support/kernel.ts';
import { ask, bearer, connect, gatewayOf, protocols } from './wire.ts';

const sites = definePlugin({
  name: 'sites',
  description: 'some routes',
  setup(ctx) {
    ctx.tap(Routes, (routes): readonly Route[] => [
      ...routes,
      { method: 'GET', path: '/', auth: 'public', handle: (exchange) => exchange.reply(200, 'page') },
      { method: 'POST', path: '/echo', handle: async (exchange) => exchange.reply(200, await exchange.json()) },
    ]);
  },
});

const config = { gateway: { auth: { token: 'right' }, allowedOrigins: ['https://allowed.example'] } };
const upgrade = (token?: string) => ({
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-version': '13',
  ...(token !== undefined && { 'sec-websocket-protocol': protocols(token).join(', ') }),
});

/** Each door, how a token is shown there, and what it answers who has it. */
const doors = [
  { name: 'GET /healthz, which only says that the process serves', path: '/healthz', open: true, bare: true, ok: 200 },
  { name: 'GET /readyz', path: '/readyz', open: true, ok: 200 },
  { name: 'GET / (public)', path: '/', open: true, ok: 200 },
  { name: 'POST /echo', path: '/echo', method: 'POST', body: '{"a":1}', ok: 200 },
  { name: 'GET /echo, a method it has not', path: '/echo', ok: 405 },
  { name: 'GET an unknown path', path: '/nowhere', ok: 404 },
  { name: 'WebSocket /ws', path: '/ws', socket: true, ok: 101 },
  { name: 'WebSocket /', path: '/', socket: true, ok: 101 },
  { name: 'WebSocket elsewhere', path: '/elsewhere', socket: true, ok: 404, noPath: true },
] as {
  name: string;
  path: string;
  method?: string;
  body?: string;
  open?: boolean;
  socket?: boolean;
  ok: number;
  bare?: boolean;
  noPath?: boolean;
}[];

describe.each(doors)('$name', ({ path, method = 'GET', body, open, socket, ok, bare, noPath }) => {
  let kernel: TestKernel;
  beforeAll(async () => {
    kernel = await bootTest([gateway, sites], config);
  });
  afterAll(() => kernel[Symbol.asyncDispose]());

  const attempt = async (token: string | undefined, { headers = {}, query = '' } = {}) => {
    const { url } = await gatewayOf(kernel);
    const shown = socket ? upgrade(token) : token === undefined ? {} : bearer(token);
    return ask(`${url}${path}${query}`, { method, headers: { ...shown, ...headers }, ...(body !== undefined && { body }) });
  };

  test('SPEC 11.1: no token, a wrong one, half of one and an empty one are refused; the right one passes', async () => {
    for (const token of [undefined, 'wrong', 'righ', '']) {
      expect((await attempt(token)).status).toBe(open ? ok : noPath ? 404 : 401);
    }
    expect((await attempt('right')).status).toBe(ok);
  });

  test('a Host that is not this machine is refused, token or not', async () => {
    for (const host of ['evil.example', 'evil.example:18789', '127.0.0.1.evil.example', '127.0.0.1@evil.example', '[::2]', '127.0.0.1:']) {
      expect((await attempt('right', { headers: { host } })).status).toBe(403);
    }
    for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1:18789', '[::1]:80']) {
      expect((await attempt('right', { headers: { host } })).status).toBe(ok);
    }
  });

  test('an Origin that is neither ours nor allowed is refused, token or not', async () => {
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1', 'https://allowed.example.evil.example']) {
      expect((await attempt('right', { headers: { origin } })).status).toBe(bare ? ok : 403);
    }
    expect((await attempt('right', { headers: { host: 'localhost:7', origin: 'http://localhost:7' } })).status).toBe(ok);
    expect((await attempt('right', { headers: { origin: 'https://allowed.example' } })).status).toBe(ok);
  });

  test('a token in the query is refused with a word on why, even beside a right one', async () => {
    const got = await attempt('right', { query: '?token=right' });
    expect(got.status).toBe(bare ? ok : 400);
    if (!bare && !socket) expect(got.text).toContain('GATEWAY_TOKEN_IN_QUERY');
    expect(got.text).not.toContain('right"');
  });
});

test('a rotated token binds the next request; sockets of the old one are closed and told why', async () => {
  await using kernel = await bootTest([gateway, sites], config);
  const { url } = await gatewayOf(kernel);
  await using peer = await connect(url, 'right');
  await kernel.apply([gateway, sites], { gateway: { auth: { token: 'newer' } } });
  expect((await ask(`${url}/echo`, { method: 'POST', headers: bearer('right'), body: '1' })).status).toBe(401);
  expect((await ask(`${url}/echo`, { method: 'POST', headers: bearer('newer'), body: '1' })).status).toBe(200);
  expect(await peer.closed).toEqual({ code: 4001, reason: 'the token was replaced' });
});

test('the token comes from the config, else the environment, else a file that is made once and only ours to read', async () => {
  const tokenOf = async (gatewayConfig: object, env: Record<string, string>) => {
    await using kernel = await bootTest([gateway], { gateway: gatewayConfig }, { env });
    return (await gatewayOf(kernel)).token;
  };
  const env = { INSTAR_GATEWAY_TOKEN: 'ours', OPENCLAW_GATEWAY_TOKEN: 'theirs' };
  expect(await tokenOf({ auth: { token: 'configured' } }, env)).toBe('configured');
  expect(await tokenOf({}, env)).toBe('ours');
  expect(await tokenOf({}, { ...env, INSTAR_GATEWAY_TOKEN: '' })).toBe('theirs');
  await using first = await bootTest([gateway]);
  const { token } = await gatewayOf(first);
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(await readFile(`${first.home}/token`, 'utf8')).toBe(`${token}\n`);
  expect((await stat(`${first.home}/token`)).mode & 0o777).toBe(0o600);
  await first.apply([entry(gateway, '2')]);
  expect((await gatewayOf(first)).token).toBe(token);
});

test('a body is not read before the token is checked, nor one that is too large at all', async () => {
  await using kernel = await bootTest([gateway, sites], { gateway: { auth: { token: 'right' }, http: { bodyLimit: 2_000 } } });
  const { url } = await gatewayOf(kernel);
  const { port } = new URL(url);
  // The head of a request whose body never comes: who reads first would wait.
  const head = async (lines: readonly string[]) => {
    const socket = openSocket(Number(port), '127.0.0.1');
    socket.write(`${['POST /echo HTTP/1.1', 'host: localhost', ...lines].join('\r\n')}\r\n\r\n`);
    socket.end();
    return (await text(socket)).split('\r\n', 1)[0];
  };
  expect(await head(['content-length: 1000'])).toContain('401');
  expect(await head(['content-length: 1000', 'expect: 100-continue'])).toContain('401');
  expect(await head(['authorization: Bearer right', 'content-length: 2001'])).toContain('413');
  const large = JSON.stringify('x'.repeat(5_000));
  expect((await ask(`${url}/echo`, { method: 'POST', headers: bearer('right'), body: large })).status).toBe(413);
  const chunked = { ...bearer('right'), 'transfer-encoding': 'chunked' };
  expect(await ask(`${url}/echo`, { method: 'POST', headers: chunked, body: large })).toMatchObject({ status: 413 });
  expect((await ask(`${url}/echo`, { method: 'POST', headers: bearer('right'), body: '{"fits":1}' })).text).toBe('{"fits":1}');
});

afterEach(() => void vi.useRealTimers());

test('wrong tokens run out: then none is looked at for a while, and the answer says how long', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  await using kernel = await bootTest([gateway, sites], config);
  const { url } = await gatewayOf(kernel);
  const statuses: number[] = [];
  for (let i = 0; i < 25; i++) statuses.push((await ask(`${url}/echo`, { headers: bearer(`guess${i}`) })).status);
  expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 401));
  const got = await ask(`${url}/echo`, { headers: bearer('right') });
  expect({ status: got.status, wait: got.headers['retry-after'] }).toEqual({ status: 429, wait: '1' });
  expect((await ask(`${url}/`)).status).toBe(200);
});

test('one more attempt comes back with each second, for each address by itself', () => {
  const failures = new Failures();
  for (let i = 0; i < 20; i++) failures.add('a', 0);
  expect([failures.wait('a', 0), failures.wait('b', 0), failures.wait('a', 500), failures.wait('a', 1_000)]).toEqual([1, 0, 1, 0]);
  failures.add('a', 1_000);
  expect(failures.wait('a', 1_000)).toBe(1);
});

test('a page of an allowed origin may ask first what it may do', async () => {
  await using kernel = await bootTest([gateway, sites], config);
  const { url } = await gatewayOf(kernel);
  const headers = {
    origin: 'https://allowed.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization',
  };
  const got = await ask(`${url}/echo`, { method: 'OPTIONS', headers });
  expect(got.status).toBe(204);
  expect(got.headers['access-control-allow-origin']).toBe('https://allowed.example');
  expect(got.headers['access-control-allow-headers']).toBe('authorization');
});

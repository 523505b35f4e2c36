import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, bearer, connect, protocols } from '../plugins/gateway/wire.ts';
import { plugin } from '../support/kernel.ts';
import { Routes } from '../../plugins/gateway/contract.ts';
import { type Installation, installation, token } from './installation.ts';

/** Said by nobody to be public, so it is not: a plugin of somebody else gets the same guard. */
const strange = plugin('strange', (ctx) =>
  ctx.tap(Routes, (routes) => [...routes, { method: 'POST', path: '/strange/*', handle: (exchange) => exchange.reply(200, 'in') }]),
);

let at: Installation;
beforeAll(async () => {
  at = await installation({}, [strange]);
}, 30_000);
afterAll(() => at[Symbol.asyncDispose]());

/** A new one fails below until somebody has thought about it. */
const open = ['GET /readyz', 'GET /', 'GET /page/*', 'GET /vendor/*'];

test('S4: routes that need no token are told here, and are of files and of readiness alone', () => {
  const found = at.routes.filter(({ auth }) => auth === 'public').map(({ method, path }) => `${method} ${path}`);
  expect(found.toSorted()).toEqual(open.toSorted());
});

test('S4: every other route of every plugin refuses no token, a wrong one, half of one and one from the query', async () => {
  const closed = at.routes.filter(({ auth }) => auth !== 'public');
  expect(closed.map(({ path }) => path)).toEqual(expect.arrayContaining(['/v1/chat/completions', '/v1/events', '/access', '/strange/*']));
  for (const { method, path } of closed) {
    const url = at.url + path.replace('*', 'x');
    const say = (headers: Record<string, string>, query = '') =>
      ask(url + query, { method, headers, ...(method === 'POST' && { body: '{}' }) });
    // Loopback, a proxy that says so, and the name of the owner are no credentials.
    for (const headers of [{}, { 'x-forwarded-for': '127.0.0.1' }, { 'x-forwarded-user': 'owner', cookie: `token=${token}` }])
      expect([path, (await say(headers)).status]).toEqual([path, 401]);
    expect([path, (await say({}, `?token=${token}`)).status]).toEqual([path, 400]);
    expect([path, (await say({ ...bearer(token), origin: 'https://evil.example' })).status]).toEqual([path, 403]);
    expect([path, (await say({ ...bearer(token), host: 'evil.example' })).status]).toEqual([path, 403]);
  }
  for (const [i, { method, path }] of closed.entries()) {
    const wrong = i % 2 ? 'wrong' : token.slice(0, -1);
    const got = await ask(at.url + path.replace('*', 'x'), { method, headers: bearer(wrong), ...(method === 'POST' && { body: '{}' }) });
    expect([path, got.status]).toEqual([path, 401]);
  }
});

test('S4: what is open without a token says nothing of this installation', async () => {
  for (const path of ['/', '/readyz', '/healthz', '/page/main.js']) {
    const { status, text } = await ask(at.url + path);
    expect([path, status]).toEqual([path, 200]);
    for (const secret of [token, at.test.home]) expect(text).not.toContain(secret);
  }
});

test('S4: no path leads out of the files of the page', async () => {
  const out = [
    '/page/../index.ts',
    '/page/%2e%2e/index.ts',
    '/page/..%2findex.ts',
    '/vendor/../../package.json',
    '/page/....//index.ts',
    '/page/%00',
    '/page//etc/passwd',
  ];
  for (const path of out) {
    const { status, text } = await ask(at.url + path);
    expect([path, [400, 401, 404].includes(status)]).toEqual([path, true]);
    expect(text).not.toMatch(/definePlugin|"dependencies"|root:/);
  }
});

test('S4: no method of any plugin is reached by a socket without the token, or from a page of another site', async () => {
  expect(Object.keys(at.methods).length).toBeGreaterThan(30);
  const upgrade = (more: Record<string, string>) =>
    ask(`${at.url}/ws`, {
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
        'sec-websocket-version': '13',
        ...more,
      },
    });
  const right = { 'sec-websocket-protocol': protocols(token).join(', ') };
  expect((await upgrade({})).status).toBe(401);
  expect((await upgrade({ 'sec-websocket-protocol': 'instar' })).status).toBe(401);
  expect((await upgrade({ ...right, origin: 'https://evil.example' })).status).toBe(403);
  expect((await upgrade({ ...right, host: 'rebound.example' })).status).toBe(403);
  await using peer = await connect(at.url, token);
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
    expect(await peer.call(name)).toMatchObject({ ok: false, error: { code: 'GATEWAY_NO_METHOD' } });
});

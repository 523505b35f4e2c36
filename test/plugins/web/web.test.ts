import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import gateway from '../../../plugins/gateway/index.ts';
import { Gateway } from '../../../plugins/gateway/contract.ts';
import web from '../../../plugins/web/index.ts';
import { bootTest } from '../../support/kernel.ts';

async function serve() {
  const kernel = await bootTest([gateway, web], { gateway: { auth: { token: 'test-token' } } });
  const { url } = await kernel.kernel.run((run) => run.get(Gateway));
  return { url, [Symbol.asyncDispose]: () => kernel[Symbol.asyncDispose]() };
}

test('the page is served without a token, under a policy that runs only its own scripts', async () => {
  await using server = await serve();
  const reply = await fetch(server.url);
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const { host } = new URL(server.url);
  expect(reply.headers.get('content-security-policy')?.split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self' ws://${host} wss://${host}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types dompurify',
  ]);
  expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
  expect(reply.headers.get('referrer-policy')).toBe('no-referrer');
  expect(await reply.text()).not.toMatch(/<script>|<style>| on\w+=| style=/);
});

test('every file that the page names is there, and only text of these two folders', async () => {
  await using server = await serve();
  const get = (path: string) => fetch(server.url + path);
  const html = await (await get('/')).text();
  const named = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path!);
  const modules = (await get('/')).headers.get('link')?.match(/\/page\/[\w.-]+/g) ?? [];
  expect(modules).toContain('/page/main.js');
  for (const path of [...named, ...modules, '/vendor/marked.js', '/vendor/dompurify.js', '/vendor/highlight.js']) {
    const reply = await get(path);
    expect([path, reply.status]).toEqual([path, 200]);
    expect(reply.headers.get('content-type')).toMatch(/^(?:text\/(?:javascript|css)|image\/svg\+xml)/);
    await reply.arrayBuffer();
  }
  const nowhere = [
    '/page/tsconfig.json',
    '/page/..%2findex.ts',
    '/page/%2e%2e/index.ts',
    '/vendor/ws.js',
    '/vendor/toString.js',
    '/page/no.js',
  ];
  for (const path of nowhere) expect([path, [401, 404].includes((await get(path)).status)]).toEqual([path, true]);
});

test('a file that did not change is not sent again', async () => {
  await using server = await serve();
  const first = await fetch(`${server.url}/page/main.js`);
  const etag = first.headers.get('etag')!;
  expect(first.headers.get('cache-control')).toBe('no-cache');
  const again = await fetch(`${server.url}/page/main.js`, { headers: { 'if-none-match': etag } });
  expect([again.status, await again.text()]).toEqual([304, '']);
});

test('the page can ask whether its token is good', async () => {
  await using server = await serve();
  const ask = (token: string) => fetch(`${server.url}/access`, { headers: { authorization: `Bearer ${token}` } });
  expect((await ask('test-token')).status).toBe(204);
  expect((await ask('wrong')).status).toBe(401);
});

test('all files of the page, without the libraries, travel in less than 60 KB', async () => {
  await using server = await serve();
  const files = readdirSync(join(import.meta.dirname, '../../../plugins/web/page')).filter((name) => /\.(?:js|css|svg)$/.test(name));
  let bytes = 0;
  for (const name of files) {
    const reply = await fetch(`${server.url}/page/${name}`, { headers: { 'accept-encoding': 'gzip' } });
    bytes += Number(reply.headers.get('content-length'));
    await reply.arrayBuffer();
  }
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(60_000);
});

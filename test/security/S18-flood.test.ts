import { connect as openSocket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, bearer, connect } from '../plugins/gateway/wire.ts';
import { type Installation, installation, token } from './installation.ts';

let at: Installation;
beforeAll(async () => {
  at = await installation();
}, 30_000);
afterAll(() => at[Symbol.asyncDispose]());

const firstLine = async (bytes: string) => {
  const socket = openSocket(Number(new URL(at.url).port), '127.0.0.1');
  socket.on('error', () => {}); // cut off in mid-flood
  socket.end(bytes);
  return (await text(socket).catch(() => '')).split('\r\n', 1)[0];
};

test('S18: on every route that takes a body, one is asked for only once the token is right and the length fits', async () => {
  const taking = at.routes.filter(({ method, auth }) => method === 'POST' && auth !== 'public');
  expect(taking.length).toBeGreaterThan(0);
  for (const { path } of taking) {
    const head = (more: readonly string[]) => firstLine(`POST ${path} HTTP/1.1\r\nhost: localhost\r\n${more.join('\r\n')}\r\n\r\n`);
    expect([path, await head(['content-length: 100000000'])]).toEqual([path, expect.stringContaining('401')]);
    expect([path, await head([`authorization: Bearer ${token}`, 'content-length: 100000000'])]).toEqual([
      path,
      expect.stringContaining('413'),
    ]);
  }
});

test('S18: headers without end, a body nested a hundred thousand deep and a packed one are refused', async () => {
  expect(await firstLine(`GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'x'.repeat(40_000)}\r\n\r\n`)).toMatch(/431/);
  const post = (body: string, more = {}) =>
    ask(`${at.url}/v1/chat/completions`, { method: 'POST', headers: { ...bearer(token), ...more }, body });
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  expect((await post(deep)).status).toBe(400);
  expect((await post(`{"model":"instar","messages":[{"role":"user","content":${deep}}]}`)).status).toBe(400);
  expect((await post('{}', { 'content-encoding': 'gzip' })).status).toBe(415);
  expect((await ask(`${at.url}/readyz`)).status).toBe(200);
});

test('S18: a frame past the limit closes its socket alone; one nested deep is an error', async () => {
  await using other = await connect(at.url, token);
  await using peer = await connect(at.url, token);
  peer.socket.send(`{"id":"deep","method":"chat.send","params":{"text":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`);
  expect(await peer.frame(({ id }) => id === 'deep')).toMatchObject({ ok: false });
  peer.socket.send(Buffer.alloc(25 * 1024 * 1024, 'x').toString());
  expect((await peer.closed).code).toBe(1009);
  expect(await other.call('agents.list')).toMatchObject({ ok: true });
});

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { bounded } from '../../../plugins/mcp/bounded.ts';
import mcp from '../../../plugins/mcp/index.ts';
import secrets from '../../../plugins/secrets/index.ts';
import { allowAll, textOf, toolbench } from '../../support/toolbench.ts';
import { isUp, states } from './bench.ts';
import { said } from './said.ts';

/** An MCP server without a library; what it answers to a call is put in. */
async function server(call: (response: ServerResponse, id: unknown) => void, resumed?: () => void) {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers['last-event-id'] !== undefined) resumed?.();
    if (request.method !== 'POST') return void response.writeHead(request.method === 'GET' ? 405 : 200).end();
    const { id, method, params } = JSON.parse((await request.toArray()).join('')) as {
      id?: unknown;
      method: string;
      params?: { protocolVersion?: string };
    };
    if (id === undefined) return void response.writeHead(202).end();
    if (method === 'tools/call') return call(response, id);
    const greeting = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } };
    const tools = [{ name: 'call', inputSchema: { type: 'object' } }];
    const result = { initialize: greeting, 'tools/list': { tools } }[method] ?? {};
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  };
  const http = createServer((request, response) => void answer(request, response));
  await once(http.listen(0, '127.0.0.1'), 'listening');
  const { port } = http.address() as AddressInfo;
  const close = async () => {
    http.closeAllConnections();
    await new Promise((done) => http.close(done));
  };
  return { origin: `http://127.0.0.1:${port}`, close, [Symbol.asyncDispose]: close };
}

const boot = (url: string, more: object = {}) =>
  toolbench([secrets, mcp, allowAll], { mcp: { servers: { web: { url, allow: ['*'], ...more } } } }, { env: { INSTAR_NO_DETECT: '1' } });

const endless: readonly (readonly [what: string, type: string, status: number, head: string])[] = [
  ['one JSON answer', 'application/json', 200, '{"jsonrpc":"2.0","x":"'],
  ['one event', 'text/event-stream', 200, 'data: '],
  ['a refusal', 'text/plain', 500, 'no '],
];
test.each(endless)('S18: %s without end is given up, and so is the connection', { timeout: 30_000 }, async (_, type, status, head) => {
  const closed = Promise.withResolvers<void>();
  await using at = await server((response) => {
    const chunk = 'x'.repeat(1 << 20);
    const pump = () => void (response.destroyed || response.write(chunk, pump));
    response.writeHead(status, { 'content-type': type }).write(head, pump);
    response.once('close', () => closed.resolve());
  });
  await using bench = await boot(`${at.origin}/mcp`);
  await isUp(bench, 'web');
  expect(said(await bench.call('mcp__web__call', {}))).toMatch(
    /it sent a message of more than 30 MB; whether it took effect is not known$/,
  );
  await closed.promise;
  await isUp(bench, 'web');
});

test('S18: of a call that was given up nothing more is read, whatever the server goes on to say', { timeout: 30_000 }, async () => {
  const [began, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using at = await server((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': I am busy\n\n', () => began.resolve());
    response.once('close', () => closed.resolve());
  });
  await using bench = await boot(`${at.origin}/mcp`);
  await isUp(bench, 'web');
  const stop = new AbortController();
  const call = bench.call('mcp__web__call', {}, { signal: stop.signal }).catch(() => 'stopped');
  await began.promise;
  stop.abort();
  expect(await call).toBe('stopped');
  await closed.promise;
  expect(await states(bench)).toMatchObject([{ state: 'up' }]);
});

test('S18: the answer to a call that broke is not asked for again by a stream that nothing would end', { timeout: 30_000 }, async () => {
  let resumed = 0;
  const broken = (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: e1\nretry: 1\ndata: \n\n');
  };
  await using at = await server(broken, () => resumed++);
  await using bench = await boot(`${at.origin}/mcp`, { timeoutSeconds: 1 });
  await isUp(bench, 'web');
  // It gives up by time, long after the library asked for the rest.
  expect(said(await bench.call('mcp__web__call', {}))).toMatch(/Request timed out.*whether it took effect is not known$/);
  expect(resumed).toBe(0);
});

test('an event stream may be as long as it likes while its events are short', async () => {
  const event = new TextEncoder().encode(`data: ${'x'.repeat(90)}\r\n\r\n`);
  const stream = (pieces: number, piece: Uint8Array) =>
    new Response(ReadableStream.from(Array.from({ length: pieces }, () => piece)), { headers: { 'content-type': 'text/event-stream' } });
  const tooLong = () => new Error('too long');
  let ends = 0;
  const read = (answer: Response) => bounded(answer, 1000, tooLong, () => ends++).text();
  expect(await read(stream(100, event))).toHaveLength(100 * event.length);
  await expect(read(stream(100, event.subarray(0, 50)))).rejects.toThrow('too long');
  expect(ends).toBe(2);
});

test('S15: what of an address may be a key is in no message', { timeout: 30_000 }, async () => {
  const at = await server(() => {});
  await using bench = await boot(`${at.origin}/canary1/mcp?key=canary2`);
  await isUp(bench, 'web');
  await at.close();
  const told = textOf(await bench.call('mcp__web__call', {}));
  expect(told).toContain(`mcp.servers.web.url (${at.origin}) did not answer: `);
  await expect.poll(() => states(bench), { timeout: 10_000 }).toMatchObject([{ state: 'down', why: expect.stringContaining(at.origin) }]);
  expect(JSON.stringify([told, await states(bench), bench.test.records])).not.toContain('canary');
});

test('S15: a user and password in an address are refused, and told to nobody', async () => {
  await using bench = await boot('http://canary1:canary2@127.0.0.1:9/mcp');
  expect(await states(bench)).toEqual([]);
  const told = JSON.stringify(bench.test.records);
  expect(told).toContain('has a user or password in its url, which is not sent; put it into headers');
  expect(told).not.toContain('canary');
});

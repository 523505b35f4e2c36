import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { expect, test } from 'vitest';
import { openConnection } from '../../../plugins/mcp/connection.ts';
import { offeredOf, type Server } from '../../../plugins/mcp/tools.ts';
import { isUp, mcpBench } from './bench.ts';
import { said } from './said.ts';

type Message = { readonly id?: number; readonly method?: string; readonly params?: { readonly protocolVersion?: string } };

/** A server in this process that answers at once, `after` each answer as it likes. */
async function connected(after: (method: string, transport: Transport) => void = () => {}) {
  const asked: string[] = [];
  const transport: Transport = {
    start: async () => {},
    close: async () => transport.onclose?.(),
    async send(message) {
      const { id, method = '', params } = message as Message;
      asked.push(method);
      if (id === undefined) return;
      const capabilities = { tools: { listChanged: true } };
      const greeting = { protocolVersion: params?.protocolVersion, capabilities, serverInfo: { name: 's', version: '1' } };
      const tools = [{ name: 'look', inputSchema: { type: 'object' } }];
      const result = { initialize: greeting, 'tools/list': { tools } }[method] ?? {};
      queueMicrotask(() => {
        transport.onmessage?.({ jsonrpc: '2.0', id, result });
        after(method, transport);
      });
    },
  };
  const log = { info: () => {}, warn: () => {} };
  const connection = openConnection({ name: 's', version: '1', connectTimeoutMs: 5000, connect: async () => transport, log });
  connection.start();
  await expect.poll(() => connection.state).toBe('up');
  const count = (method: string) => asked.filter((one) => one === method).length;
  return { connection, transport, count, [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose]() };
}

/** Whatever was to follow at once has followed. */
async function settled() {
  for (let i = 0; i < 200; i++) await new Promise((done) => setImmediate(done));
}

test('a server that says nonsense without end is asked once whether it is still there', async () => {
  await using at = await connected();
  for (let i = 0; i < 1000; i++) {
    at.transport.onerror?.(new Error('what is this?'));
    if (i % 100 === 0) await settled();
  }
  // The first at once, and the next not within a second.
  expect(at.count('ping')).toBeGreaterThan(0);
  expect(at.count('ping')).toBeLessThan(5);
  expect(at.connection.state).toBe('up');
});

test('a server whose list changes all the time is not listed all the time, and the same list is no change', async () => {
  const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' } as const;
  await using at = await connected((method, transport) => method === 'tools/list' && transport.onmessage?.(changed));
  const { version } = at.connection;
  await settled();
  expect(at.count('tools/list')).toBeGreaterThan(0);
  expect(at.count('tools/list')).toBeLessThan(5);
  expect(at.connection.version).toBe(version);
});

const toolsOf = (...tools: readonly object[]) => offeredOf({ name: 's', settings: {}, connection: { tools } } as unknown as Server);
const sized = (name: string, chars: number) => ({
  name,
  inputSchema: { type: 'object', description: 'd'.repeat(900), $defs: lots(chars) },
});
const lots = (chars: number) =>
  Object.fromEntries(Array.from({ length: Math.ceil(chars / 900) }, (_, i) => [`x${i}`, { description: 'd'.repeat(870) }]));

test('SPEC 2.1: a tool whose parameters would fill a prompt is not offered, and it is said why', () => {
  const { tools, unusable } = toolsOf(sized('small', 5000), sized('large', 25_000));
  expect(tools.map(({ raw }) => raw)).toEqual(['small']);
  expect(unusable).toEqual([
    {
      tool: 'mcp__s__large',
      why: expect.stringMatching(/^MCP server "s": its parameters have \d+ characters, and one tool may have 20000$/),
    },
  ]);
});

test('SPEC 2.1: the tools of one server together do not fill a prompt either; those that fit are offered', () => {
  const { tools, unusable } = toolsOf(...Array.from({ length: 40 }, (_, i) => sized(`t${i}`, 15_000)), { name: 'tiny', inputSchema: {} });
  const size = JSON.stringify(tools.map(({ tool }) => [tool.name, tool.description, tool.parameters])).length;
  expect(size).toBeGreaterThan(150_000);
  expect(size).toBeLessThan(201_000);
  expect(tools.at(-1)?.raw).toBe('tiny');
  expect(unusable.map(({ why }) => why)).toContain(
    'MCP server "s": the tools before it take up the 200000 characters of a server; let it offer fewer',
  );
  expect(tools.length + unusable.length).toBe(41);
});

/** Speaks the protocol without a library; what a call does is put in. */
const script = (call: string) => `
  const out = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
  const greeting = (version) => ({ protocolVersion: version, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } });
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === 'initialize') return out({ id, result: greeting(params.protocolVersion) });
    if (method === 'tools/list') return out({ id, result: { tools: [{ name: 'call', inputSchema: { type: 'object' } }] } });
    if (method !== 'tools/call') return id !== undefined && out({ id, result: {} });
    ${call}
    out({ id, result: { content: [{ type: 'text', text: 'done' }] } });
  });`;
const noisy = (call: string) => ({ n: { command: process.execPath, args: ['-e', script(call)], allow: ['*'] } });

test('progress that comes thousands of times is shown now and then', { timeout: 30_000 }, async () => {
  const progress = `for (let i = 0; i < 5000; i++) out({ method: 'notifications/progress', params: { progressToken: params._meta.progressToken, progress: i } });`;
  await using bench = await mcpBench(noisy(progress));
  await isUp(bench, 'n');
  let updates = 0;
  expect(said(await bench.call('mcp__n__call', {}, { onUpdate: () => updates++ }))).toBe('done');
  expect(updates).toBeLessThan(100);
});

test('S18: what a program says on stderr fills no disk, also while it runs', { timeout: 30_000 }, async () => {
  await using bench = await mcpBench(noisy(`require('node:fs').writeSync(2, 'e'.repeat(3_000_000));`));
  await isUp(bench, 'n');
  const log = join(bench.test.home, 'logs/mcp-n.log');
  expect(said(await bench.call('mcp__n__call', {}))).toBe('done');
  await expect.poll(async () => (await stat(log)).size, { timeout: 10_000 }).toBeLessThanOrEqual(1_000_000);
  expect(said(await bench.call('mcp__n__call', {}))).toBe('done');
});

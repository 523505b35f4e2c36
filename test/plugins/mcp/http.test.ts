import { expect, test } from 'vitest';
import { ToolAbsences } from '../../../plugins/policy/contract.ts';
import secrets from '../../../plugins/secrets/index.ts';
import mcp from '../../../plugins/mcp/index.ts';
import { allowAll, toolbench } from '../../support/toolbench.ts';
import { isUp, offered, states } from './bench.ts';
import { httpServer } from './http-server.ts';
import { said } from './said.ts';

const boot = (port: number, block: object = {}, env: Readonly<Record<string, string>> = {}) =>
  toolbench(
    [secrets, mcp, allowAll],
    { mcp: { servers: { web: { url: `http://127.0.0.1:${port}/mcp`, allow: ['*'], ...block } } } },
    { env: { INSTAR_NO_DETECT: '1', ...env } },
  );

test('SPEC 2.3: the tools of a streamable HTTP server are offered and called, with the headers of the config', {
  timeout: 30_000,
}, async () => {
  await using server = await httpServer();
  await using bench = await boot(
    server.port,
    { headers: { 'x-plain': 'yes', authorization: { source: 'env', id: 'THE_KEY' } } },
    { THE_KEY: 'secret' },
  );
  await isUp(bench, 'web');
  expect(await offered(bench)).toEqual(['mcp__web__hello']);
  expect(said(await bench.call('mcp__web__hello', {}))).toBe('hello');
  expect(server.asked.every((headers) => headers['x-plain'] === 'yes' && headers.authorization === 'secret')).toBe(true);
  server.grow('grown');
  await expect.poll(() => offered(bench)).toEqual(['mcp__web__hello', 'mcp__web__grown']);
});

test('a server that is started anew has lost the session: the call says so, and the next one works', { timeout: 30_000 }, async () => {
  const first = await httpServer();
  await using bench = await boot(first.port);
  await isUp(bench, 'web');
  await first[Symbol.asyncDispose]();
  const lost = await bench.call('mcp__web__hello', {});
  expect([lost.isError, said(lost)]).toEqual([
    true,
    expect.stringMatching(/^mcp__web__hello failed: .*whether it took effect is not known$|there is no tool/),
  ]);
  await expect.poll(() => states(bench), { timeout: 10_000 }).toMatchObject([{ state: 'down' }]);
  await using _again = await httpServer(first.port);
  await isUp(bench, 'web');
  expect(said(await bench.call('mcp__web__hello', {}))).toBe('hello');
});

test('a redirect does not carry the owner’s headers elsewhere', { timeout: 30_000 }, async () => {
  await using elsewhere = await httpServer();
  await using server = await httpServer(0, () => ({ status: 307, location: `http://127.0.0.1:${elsewhere.port}/mcp` }));
  await using bench = await boot(server.port, { headers: { 'x-key': 'secret' } });
  await expect.poll(() => states(bench)).toMatchObject([{ state: 'down' }]);
  expect(elsewhere.asked).toEqual([]);
});

test('a server that refuses is absent with its answer, and the secret is not told', { timeout: 30_000 }, async () => {
  await using server = await httpServer(0, () => ({ status: 401 }));
  await using bench = await boot(server.port, { headers: { authorization: 'Bearer secret' } });
  await expect.poll(() => states(bench)).toMatchObject([{ state: 'down' }]);
  const [absence] = await bench.test.kernel.run((run) => run.call(ToolAbsences, []));
  expect(absence?.why).toMatch(/^MCP server "web" is down: it refused the request \(HTTP 401\); check mcp\.servers\.web\.headers/);
  expect(JSON.stringify([absence, bench.test.records])).not.toContain('secret');
});

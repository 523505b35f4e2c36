import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Method } from '../../../plugins/gateway/contract.ts';
import { Methods } from '../../../plugins/gateway/contract.ts';
import { gatewayFindings } from '../../../plugins/gateway/findings.ts';
import { type Audit, quoted, SecurityFindings } from '../../../plugins/security/contract.ts';
import { bundled } from '../../support/bundled.ts';
import { bootTest, entry, plugin, type TestKernel } from '../../support/kernel.ts';

const token = 'kX2v9QmT4bW7cR1zL6pD8sN3';
const sound = { gateway: { auth: { token } } };

const audit = ({ kernel }: TestKernel) =>
  kernel.run(async (run) => (await run.call(Methods, {}))['security.audit']?.({}, {} as Parameters<Method>[1], run) as Promise<Audit>);
const codes = ({ findings }: Audit) => findings.map(({ severity, code, path }) => `${severity} ${code} ${path ?? ''}`.trim());

test('issue 6.7: a fresh installation has nothing to mend', async () => {
  await using t = await bootTest(await bundled(), sound);
  expect((await audit(t)).findings).toEqual([]);
});

const block = { baseUrl: 'http://models.example/v1', models: [{ id: 'm' }] };
const full = { exec: { security: 'full' } };
const list = (...more: readonly object[]) => ({ agents: { list: [{ id: 'main' }, ...more] } });
const server = (more: object) => ({ mcp: { servers: { s: { enabled: false, ...more } } } });
/** What is found in a config beside the sound one. */
const rows: readonly (readonly [config: object, found: readonly string[]])[] = [
  [{ tools: full }, ['severe exec-full tools.exec.security']],
  [{ tools: { ...full, deny: ['exec'] } }, []],
  [{ tools: { exec: { security: 'full', ask: 'always' } } }, []],
  [{ tools: full, agents: { defaults: { sandbox: { mode: 'all' } } } }, []],
  [{ tools: full, agents: { defaults: { sandbox: { mode: 'non-main' } } } }, ['warning exec-full tools.exec.security']],
  [list({ id: 'b', tools: full, sandbox: { mode: 'off' } }), ['severe exec-full agents.list[1].tools.exec.security']],
  [{ tools: full, ...list({ id: 'b', tools: { exec: { security: 'allowlist' } } }) }, ['severe exec-full tools.exec.security']],
  [{ tools: { exec: { ask: 'off' } } }, ['note ask-off tools.exec.ask']],
  [list({ id: 'b', subagents: { allowAgents: ['*'] } }), ['warning spawn-any agents.list[1].subagents.allowAgents']],
  [list({ id: 'b', subagents: { allowAgents: ['main'] } }), []],
  [list({ id: 'b', sandbox: { readable: ['/opt/x', '/home'] } }), ['warning sandbox-readable agents.list[1].sandbox.readable[1]']],
  [{ fetch: { allowPrivate: ['10.0.0.0/8', 'nas.local'] } }, ['warning fetch-private fetch.allowPrivate[0]', 'note fetch-private fetch.allowPrivate[1]']],
  [{ models: { providers: { p: { ...block, apiKey: 'k' } } } }, ['severe key-in-clear models.providers.p']],
  [{ models: { providers: { p: { ...block, headers: { 'x-api-key': 'k' } } } } }, ['severe key-in-clear models.providers.p']],
  [{ models: { providers: { p: { ...block, baseUrl: 'http://192.168.1.7/v1', apiKey: 'k' } } } }, ['warning key-in-clear models.providers.p']],
  [{ models: { providers: { p: { ...block, baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'k' } } } }, []],
  [{ models: { providers: { p: block } } }, []],
  [server({ url: 'http://tools.example/mcp', headers: { authorization: 'k' } }), ['severe key-in-clear mcp.servers.s']],
  [server({ command: 'npx', args: ['-y', '@a/b'] }), ['warning mcp-unpinned mcp.servers.s']],
  [server({ command: 'npx', args: ['-y', '@a/b@1.2.3'], allow: ['x'] }), []],
  [server({ command: '/bin/x', allow: ['*'] }), ['warning mcp-unasked mcp.servers.s.allow']],
  [{ gateway: { auth: { token }, allowedOrigins: ['http://a.example', 'https://b.example', 'http://localhost:1'] } }, ['warning origin-http gateway.allowedOrigins[0]']],
]; // biome-ignore format: a table to read across

describe('issue 6.7: each rule finds what it is for, at its path, and nothing where all is well', async () => {
  const plugins = await bundled();
  test.each(rows)('%j', async (config, found) => {
    await using t = await bootTest(plugins, { ...sound, ...config });
    const told = await audit(t);
    expect(codes(told)).toEqual(found);
    for (const { mend, message } of told.findings) expect([mend, message]).not.toContain('');
  });
});

const loopback = 'http://127.0.0.1:1';
test.each([
  [loopback, token, []],
  [loopback, 'changeme', ['severe token-weak']],
  [loopback, 'short', ['severe token-weak']],
  [loopback, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', ['severe token-weak']],
  [loopback, 'test-token-of-mine', ['warning token-weak']],
  [loopback, 'abababababababababababababab', ['warning token-weak']],
  ['http://0.0.0.0:1', token, ['warning bind-open']],
  ['http://0.0.0.0:1', 'changeme', ['severe token-weak', 'severe bind-open']],
])('a gateway at %s with token %s: %j', (url, given, found) => {
  const told = gatewayFindings({ url, token: given });
  expect(told.map(({ severity, code }) => `${severity} ${code}`)).toEqual(found);
  expect(JSON.stringify(told)).not.toContain(given);
});

test('what guards and is off is told; so are the findings of other plugins, and a rule that fails', async () => {
  const without = (await bundled()).filter(({ name }) => name !== 'policy');
  const finding = { severity: 'severe', code: 'mine', message: 'm', path: 'a.b', mend: 'x' } as const;
  const other = plugin('other', (ctx) => ctx.tap(SecurityFindings, (all) => [...all, finding]));
  await using t = await bootTest([...without, other], sound);
  expect(codes(await audit(t))).toEqual(['severe mine a.b', 'warning guard-off plugins.entries.policy.enabled']);
  const broken = plugin('other', (ctx) => ctx.tap(SecurityFindings, () => Promise.reject(new Error('broken'))));
  await t.apply([...without, entry(broken, '2')]);
  expect((await audit(t)).findings).toContainEqual(
    expect.objectContaining({ code: 'rule-failed', message: expect.stringContaining('broken') }),
  );
});

test('a config that was rejected is not what is judged', async () => {
  await using t = await bootTest(await bundled(), sound);
  const plugins = [...(await bundled()), plugin('broken', () => Promise.reject(new Error('no')), { required: true })];
  await expect(t.apply(plugins, { ...sound, tools: full })).rejects.toThrow();
  expect(codes(await audit(t))).toEqual([]);
});

test('files of the state folder that others can read or write are told, with the mode that is right', async () => {
  await using t = await bootTest(await bundled(), sound);
  await writeFile(join(t.home, '.env'), 'KEY=x');
  await chmod(join(t.home, '.env'), 0o644);
  expect(codes(await audit(t))).toEqual(['note secret-readable']); // the folder keeps others out
  await chmod(t.home, 0o755);
  const open = await audit(t);
  expect(codes(open)).toEqual(['severe secret-readable', 'warning home-open']);
  expect(open.findings.map(({ mend }) => mend)).toEqual([`chmod 600 ${quoted(join(t.home, '.env'))}`, `chmod 700 ${quoted(t.home)}`]);
  await chmod(t.home, 0o777);
  expect(codes(await audit(t))).toContain('severe file-writable');
});

test.each([
  ['a.b', 'a.b'],
  ['a[0]', `'a[0]'`],
  [`it's`, `'it'\\''s'`],
  ['$(rm -rf /)', `'$(rm -rf /)'`],
])('a shell reads the word %j as it is: %s', (word, text) => expect(quoted(word)).toBe(text));

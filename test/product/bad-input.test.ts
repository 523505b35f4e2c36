import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { instar, startGateway, tempHome, withMock } from '../support/instar.ts';
import { startMock } from '../support/mock-model.ts';

const configs: readonly (readonly [name: string, text: string, says: RegExp])[] = [
  ['U004: a config that does not parse', "{ agents: { list: [ { id: 'main' }", /instar\.json5:1:35: /],
  [
    'U002: an unknown key',
    "{\n  agents: { list: [{ id: 'main', modle: 'x' }] },\n}",
    /instar\.json5:2:34 agents\.list\[0\]\.modle: unknown key "modle" \(did you mean "model"\?\)/,
  ],
  ['an unknown key at the top', '{ agnts: {} }', /instar\.json5:1:3 agnts: .*did you mean "agents"/],
  ['a wrong type', "{ gateway: { port: 'high' } }", /instar\.json5:1:14 gateway\.port: must be integer/],
  [
    'SPEC 1.3: an agent that is there twice',
    "{ agents: { list: [{ id: 'a' },\n { id: 'a' }] } }",
    /instar\.json5:2:.*"a" is there already at .*instar\.json5:1:/,
  ],
  ['a plugin that does not exist', '{ plugins: { entries: { telegarm: {} } } }', /there is no plugin "telegarm"/],
];

test.for(configs)('%s exits with 78 and one line that says where', async ([, text, says]) => {
  using place = tempHome(text);
  const end = await instar(place.home, ['start', '--port', '0']);
  expect(end.code).toBe(78);
  expect(end.stderr).toMatch(says);
  expect(end.stderr.trimEnd().split('\n')).toHaveLength(1);
});

test('U006: a fault inside one provider leaves only that one out, and status says why', async () => {
  await using mock = await startMock();
  using place = tempHome();
  const config = withMock(mock.url, place.home) as { models: { providers: Record<string, unknown> } };
  config.models.providers.bad = { baseUrl: 'http://127.0.0.1:9', api: 'google-genai', models: [] };
  writeFileSync(place.file, JSON.stringify(config));
  await using _ = await startGateway(place.home);
  expect((await instar(place.home, ['agent', '--message', 'hi'])).stdout.trim()).toBe('echo: hi');
  expect((await instar(place.home, ['status'])).stdout).toMatch(/models\.providers\.bad.*must be one of/);
});

test('U005: a variable that is not set disables only the provider that needs it; as a live edit it is rejected', async () => {
  await using mock = await startMock();
  using place = tempHome();
  const config = withMock(mock.url, place.home) as { models: { providers: Record<string, unknown> } };
  const good = JSON.stringify(config);
  config.models.providers.second = { baseUrl: 'http://127.0.0.1:9', apiKey: '${NOT_SET_ANYWHERE}', models: [] };
  writeFileSync(place.file, JSON.stringify(config));
  const says = /models\.providers\.second.*NOT_SET_ANYWHERE is not set/;
  await using _ = await startGateway(place.home);
  expect((await instar(place.home, ['agent', '--message', 'hi'])).stdout.trim()).toBe('echo: hi');
  expect((await instar(place.home, ['status'])).stdout).toMatch(says);
  writeFileSync(place.file, good.replace(/"apiKey":"[^"]*"/, '"apiKey":"${NOT_SET_ANYWHERE}"'));
  const reload = await instar(place.home, ['plugins', 'reload']);
  expect([reload.code, reload.stderr]).toEqual([1, expect.stringMatching(/NOT_SET_ANYWHERE is not set/)]);
  expect((await instar(place.home, ['agent', '--message', 'still'])).stdout.trim()).toBe('echo: still');
});

test('U027: a plugin that throws, that hangs or that has a syntax error is left out with its reason; the rest runs', async () => {
  using place = tempHome({});
  const plugin = (name: string, text: string) => {
    mkdirSync(join(place.home, 'plugins', name), { recursive: true });
    writeFileSync(join(place.home, 'plugins', name, 'index.ts'), text);
  };
  plugin(
    'thrower',
    "import { definePlugin } from 'instar';\nexport default definePlugin({ name: 'thrower', description: '', setup() { throw new Error('disk on fire'); } });",
  );
  plugin('broken', 'export default {{{');
  await using gateway = await startGateway(place.home);
  expect(gateway.out.stdout).toMatch(/left out: .*broken.*|left out: .*thrower/);
  const { stdout } = await instar(place.home, ['status']);
  expect(stdout).toMatch(/thrower.*disk on fire/);
  expect(stdout).toMatch(/broken/);
});

test('a port in use is one line with a way out, and a code of its own', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as AddressInfo;
  using place = tempHome({});
  const end = await instar(place.home, ['start', '--port', String(port)]);
  taken.close();
  expect(end.code).toBe(69);
  expect(end.stderr).toMatch(new RegExp(`${port}.*--port`));
});

test('U246: a model that is not there, cuts its stream or sends broken arguments is one clear error, and the session goes on', async () => {
  await using mock = await startMock();
  using place = tempHome();
  const config = withMock(mock.url, place.home) as { models: { providers: Record<string, unknown> } };
  config.models.providers.gone = {
    baseUrl: 'http://127.0.0.1:9/v1',
    apiKey: 'x',
    api: 'openai-completions',
    models: [{ id: 'm', name: 'm', contextWindow: 100000, maxTokens: 1000 }],
  };
  writeFileSync(place.file, JSON.stringify(config));
  await using _ = await startGateway(place.home);
  const gone = await instar(place.home, ['agent', '--message', 'hi', '--model', 'gone/m', '--session', 'gone']);
  expect(gone.code).not.toBe(0);
  expect(gone.stderr).toMatch(/127\.0\.0\.1:9.*refused/);
  const cut = await instar(place.home, ['agent', '--message', '[[drop]]']);
  expect(cut.code).not.toBe(0);
  expect(cut.stderr).toMatch(/MODEL_STREAM_CUT/);
  const bad = await instar(place.home, ['agent', '--message', '[[badargs:write]]']);
  expect(bad).toMatchObject({ code: 0, stdout: expect.stringContaining('done: 1 tool result') });
  expect((await instar(place.home, ['agent', '--message', 'fine'])).stdout.trim()).toBe('echo: fine');
});

test('U110: a stream that dies inside a tool call leaves no partial call, and the next request is valid', async () => {
  await using mock = await startMock();
  using place = tempHome();
  writeFileSync(place.file, JSON.stringify(withMock(mock.url, place.home)));
  await using _ = await startGateway(place.home);
  const cut = await instar(place.home, ['agent', '--message', '[[cut-in-args:write]]']);
  expect(cut.code).not.toBe(0);
  await instar(place.home, ['agent', '--message', 'next']);
  const roles = ((mock.bodies().at(-1)?.['messages'] ?? []) as { role: string; tool_calls?: unknown }[]).filter(
    (m) => m.tool_calls || m.role === 'tool',
  );
  expect(roles).toEqual([]);
});

test('a body that is too large and a wrong token are refused, and the gateway goes on', async () => {
  using place = tempHome({ gateway: { http: { endpoints: { chatCompletions: { enabled: true } } } } });
  await using gateway = await startGateway(place.home);
  const post = (body: string, token: string) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
  expect((await post('{}', 'wrong')).status).toBe(401);
  const large = await post(JSON.stringify({ messages: 'x'.repeat(40_000_000) }), gateway.token).catch((error: Error) => error);
  expect(large instanceof Error || large.status === 413).toBe(true);
  expect((await post('{ not json', gateway.token)).status).toBe(400);
  expect((await gateway.get('/healthz')).status).toBe(200);
});

test('an unknown command and a closed port name what to do', async () => {
  using place = tempHome({});
  expect(await instar(place.home, ['strat'])).toMatchObject({ code: 64, stderr: expect.stringContaining('start') });
});

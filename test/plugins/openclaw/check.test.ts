import { afterEach, expect, test, vi } from 'vitest';
import type { CommandHost } from '../../../plugins/cli/contract.ts';
import { readConfig } from '../../../plugins/cli/text/config-text.ts';
import { run } from '../../../plugins/openclaw/check.ts';
import { type Folder, folder } from '../../host/folder.ts';

afterEach(() => vi.restoreAllMocks());

/** The command as the terminal calls it, with what it printed. */
async function check(home: Folder, argv: readonly string[], configFile?: string) {
  const said: string[] = [];
  for (const stream of ['log', 'error'] as const) vi.spyOn(console, stream).mockImplementation((line) => void said.push(line));
  const read: CommandHost['readConfig'] = async (...of) => readConfig(...of);
  const host = { home: home.path, env: { SET: 'value' }, configFile, readConfig: read, commands: new Map() };
  const code = await run(argv, host as unknown as CommandHost);
  return { code, text: said.join('\n') };
}

const openclaw = `{
  meta: { lastTouchedVersion: '2026.3.31' },
  agents: { list: [
    { id: 'main' },
    { id: 'Main' },
  ] },
  gateway: { port: 'x' },
  models: { providers: { p: { baseUrl: 'ftp://p', models: [] } } },
  nodeHost: { browserProxy: { enabled: true } },
  frobnicate: '\${UNSET}',
}`;

test('SPEC 1.6: `config check` prints what is in use, by plugin, and what is not, with file:line:column', async () => {
  await using home = await folder({ 'openclaw.json': openclaw });
  const { code, text } = await check(home, [home.at('openclaw.json')]);
  expect(text.split('\n')).toEqual([
    'openclaw.json, an OpenClaw config',
    '',
    'in use: 2',
    '  agents  agents.list[0].id',
    '  models  models.providers.p.models',
    '',
    'no effect here: 2',
    "  it is OpenClaw's own bookkeeping",
    '    openclaw.json:2:3  meta',
    '  there are no nodes here',
    '    openclaw.json:9:3  nodeHost',
    '',
    'warnings: 2',
    '  openclaw.json:10:3  frobnicate: unknown key "frobnicate" has no effect',
    `  openclaw.json:5:7  agents.list[1].id: agent "main" is there already at ${home.at('openclaw.json')}:4:7; the first counts, this one has no effect`,
    '',
    'errors: 2',
    '  openclaw.json:8:31  models.providers.p.baseUrl: must match pattern "^https?://"; "p" is left out, the rest runs',
    '  openclaw.json:7:14  gateway.port: must be integer',
  ]);
  expect(code).toBe(78);
});

test('with --json it is data, and what is only warned of ends with 0', async () => {
  await using home = await folder({ 'openclaw.json': '{ cron: { enabled: true }, gateway: { port: 1234 }, x: 1 }' });
  const { code, text } = await check(home, ['--json'], home.at('openclaw.json'));
  const file = home.at('openclaw.json');
  expect(JSON.parse(text)).toMatchObject({
    file,
    form: 'openclaw',
    inUse: [{ path: 'gateway.port', place: `${file}:1:39`, plugin: 'gateway' }],
    warnings: [{ path: 'x', place: `${file}:1:53` }],
    errors: [],
  });
  expect(code).toBe(0);
});

test('a variable that is not set is an error where a plugin would read it', async () => {
  await using home = await folder({
    'instar.json5': "{ gateway: { auth: { token: '${UNSET}' } }, agents: { list: [{ id: 'a', name: '${SET}' }] } }",
  });
  const { code, text } = await check(home, []);
  expect(text).toContain('errors: 1\n  instar.json5:1:22  gateway.auth.token: the environment variable UNSET is not set');
  expect(text).toContain('agents.list[0].name');
  expect(code).toBe(78);
});

test('an unknown key of a config of ours may be that of a plugin of the user’s', async () => {
  const values = '{ mine: 1 }';
  await using alone = await folder({ 'instar.json5': values });
  expect(await check(alone, [])).toMatchObject({ code: 78, text: expect.stringContaining('errors: 1') });
  await using home = await folder({ 'instar.json5': values, 'plugins/mine/index.ts': 'throw new Error("nothing is run")' });
  expect(await check(home, [])).toMatchObject({ code: 0, text: expect.stringContaining('warnings: 1') });
});

test('a path or a text that would draw on the terminal does not', async () => {
  await using home = await folder({
    'openclaw.json':
      '{ "a\\u001b[31mb": 1, agents: { list: [{ id: "x" }] }, bindings: [{ agentId: "\\u001b[2J", match: { channel: "c" } }] }',
  });
  expect((await check(home, [home.at('openclaw.json')])).text).not.toContain('\u001b');
});

test('wrong use and a missing file are told', async () => {
  await using home = await folder();
  await expect(check(home, ['a', 'b'])).rejects.toMatchObject({ code: 'CLI_USAGE', message: 'one file at a time' });
  await expect(check(home, [])).rejects.toMatchObject({ code: 'CLI_USAGE', message: expect.stringContaining('there is no config at') });
  await expect(check(home, [home.at('gone.json')])).rejects.toMatchObject({ code: 'CONFIG_TEXT' });
});

test('a key whose plugin is switched off in the same file is not in use; one that promises safety is a warning', async () => {
  const text = `{
  plugins: { entries: { budget: { enabled: false }, 'tools-exec': { enabled: false } } },
  budget: { day: { usd: 1 } },
  tools: { deny: ['gateway'], exec: { security: 'deny' } },
}`;
  await using home = await folder({ 'instar.json5': text });
  const { code, text: said } = await check(home, [], home.at('instar.json5'));
  expect(code).toBe(0);
  expect(said).toContain('no effect here: 1\n  plugin "tools-exec" is off\n    instar.json5:4:39  tools.exec.security');
  expect(said).toContain('warnings: 1\n  instar.json5:3:20  budget.day.usd: has no effect: plugin "budget" is off');
  expect(said).toMatch(/ {2}policy +tools\.deny/);
});

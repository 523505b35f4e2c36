import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { host } from '../../../../kernel/host/entry.ts';
import type { CommandHost } from '../../../../plugins/cli/contract.ts';
import { ask } from '../../../../plugins/cli/ask.ts';
import { errorLine } from '../../../../plugins/cli/exit.ts';
import { bootOrLastGood } from '../../../../plugins/cli/last-good.ts';
import { run } from '../../../../plugins/cli/plugins/command.ts';
import { provisions } from '../../../../plugins/cli/provisions.ts';
import { readConfig } from '../../../../plugins/cli/text/config-text.ts';
import { start } from '../../../host/booted.ts';
import { type Folder, folder } from '../../../host/folder.ts';
import { type Ended, instar } from '../../../host/instar.ts';

const env = { INSTAR_NO_DETECT: '1' };

/** `instar plugins …` in this process, as main.ts calls it. */
async function call(home: Folder, configFile: string | undefined, argv: readonly string[]): Promise<Ended> {
  const boot: CommandHost['boot'] = async (options) => {
    const brought = { ...(await provisions(options)), env: () => env };
    return bootOrLastGood(options, brought.log, (read) => host.boot({ ...options, ...brought, ...(read && { read }) }));
  };
  const said = { out: '', err: '' };
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void (said.out += `${line}\n`));
  const error = vi.spyOn(console, 'error').mockImplementation((line: string) => void (said.err += `${line}\n`));
  try {
    const read: CommandHost['readConfig'] = async (...of) => readConfig(...of);
    const handed = { ...host, version: '1', home: home.path, env, configFile, boot, commands: new Map(), readConfig: read };
    const code = await run(argv, { ...handed, ask: (method, params) => ask(handed, method, params) });
    return { code, ...said };
  } catch (cause) {
    return { code: 1, out: said.out, err: `${errorLine(cause as Error)}\n` };
  } finally {
    log.mockRestore();
    error.mockRestore();
  }
}

const config = "{\n  // mine\n  gateway: { auth: { token: 'a-long-secret' } },\n}\n";

describe('with a running gateway', () => {
  let home: Folder;
  let gateway: Awaited<ReturnType<typeof start>>;
  const plugins = (...args: string[]) => call(home, home.at('instar.json5'), args);
  const list = async () => {
    const { plugins: rows } = JSON.parse((await plugins('list', '--json')).out) as { plugins: { plugin: string; state: string }[] };
    return Object.fromEntries(rows.map(({ plugin, state }) => [plugin, state]));
  };
  beforeAll(async () => {
    home = await folder({ 'instar.json5': config });
    gateway = await start(home);
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
  });

  test('U008: from `plugins new` to the tool that answers in the chat: two commands and no restart', async () => {
    const { code, out, err } = await instar(home.path, ['plugins', 'new', 'my-dice']).ended;
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^wrote .*plugins\/my-dice: index\.ts, my-dice\.test\.ts, README\.md/m);
    expect(out).toMatch(/^it is live in generation \d+$/m);
    const next = /next: instar chat "(.*)" /.exec(out)?.[1] ?? '';
    expect((await instar(home.path, ['chat', next]).ended).out).toMatch(/my_dice answered:\s+```\s+hello you/);
  });

  test('its tests are run by `plugins test`, which exits as they do', async () => {
    const tested = () => instar(home.path, ['plugins', 'test', 'my-dice']).ended;
    expect(await tested()).toMatchObject({ code: 0, out: expect.stringMatching(/pass 3/) });
    const failing = "import { test } from 'node:test';\ntest('fails', () => Promise.reject(new Error('as meant')));";
    await home.write({ 'plugins/my-dice/failing.test.ts': failing });
    expect(await tested()).toMatchObject({ code: 1, out: expect.stringContaining('as meant') });
    rmSync(home.at('plugins/my-dice/failing.test.ts'));
    expect(await plugins('test', 'gateway')).toMatchObject({ code: 1, err: expect.stringContaining('PLUGIN_NO_TESTS') });
  }, 30_000);

  test('a name or kind that cannot be is refused, and nothing is overwritten', async () => {
    expect(await plugins('new', 'my-dice')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^instar: PLUGIN_EXISTS: .*my-dice is there/),
    });
    expect(await plugins('new', 'gateway')).toMatchObject({ code: 1, err: expect.stringContaining('Instar brings a plugin "gateway"') });
    expect(await plugins('new', '../evil')).toMatchObject({ code: 1, err: expect.stringContaining('is no plugin name') });
    expect(await plugins('new', 'x', '--kind', 'chanel')).toMatchObject({
      code: 1,
      err: expect.stringContaining('did you mean "channel"?'),
    });
  });

  test('list and inspect tell what there is, and hide secrets', async () => {
    expect(await list()).toMatchObject({ 'my-dice': 'live', gateway: 'live' });
    const dice = await plugins('inspect', 'my-dice');
    expect(dice.out).toMatch(/hooks +tool\.register$/m);
    expect(dice.out).toMatch(/config +plugins\.entries\.my-dice\.config \(not set/m);
    const door = await plugins('inspect', 'gateway', '--json');
    expect(JSON.parse(door.out)).toMatchObject({
      live: { plugin: 'gateway', needs: ['host'], leases: [expect.stringMatching(/^tcp:127\.0\.0\.1:/)], setupMs: expect.any(Number) },
      config: expect.arrayContaining([
        { path: 'gateway.auth.token', value: '[hidden]', place: `${home.at('instar.json5')}:3:22` },
        { path: 'gateway.port', value: 18789, place: 'default', isDefault: true },
      ]),
    });
    expect(await plugins('inspect', 'my-dcie')).toMatchObject({ code: 1, err: expect.stringContaining('did you mean "my-dice"?') });
  });

  test('disable and enable edit one value of the config, keep the rest, and are live', async () => {
    const disabled = await plugins('disable', 'my-dice');
    expect(disabled.out).toContain("+  plugins: { entries: { 'my-dice': { enabled: false } } },\n");
    expect(disabled.out).toMatch(/my-dice is off in generation \d+/);
    const edited =
      "{\n  // mine\n  gateway: { auth: { token: 'a-long-secret' } },\n  plugins: { entries: { 'my-dice': { enabled: false } } },\n}\n";
    expect(readFileSync(home.at('instar.json5'), 'utf8')).toBe(edited);
    expect(await list()).toMatchObject({ 'my-dice': 'off' });
    expect((await plugins('disable', 'my-dice')).out).toBe('my-dice is switched off already\n');
    expect((await plugins('enable', 'my-dice')).out).toMatch(/my-dice is live in generation \d+/);
    expect(readFileSync(home.at('instar.json5'), 'utf8')).toBe(edited.replace('false', 'true'));
  });

  test('a switch that cannot be is refused, and the config stays', async () => {
    const before = readFileSync(home.at('instar.json5'), 'utf8');
    expect(await plugins('disable', 'gateway')).toMatchObject({ code: 1, err: expect.stringContaining('PLUGIN_REQUIRED') });
    expect(await plugins('enable', 'my-dcie')).toMatchObject({ code: 1, err: expect.stringContaining('did you mean "my-dice"?') });
    expect(readFileSync(home.at('instar.json5'), 'utf8')).toBe(before);
  });

  test('a switch that the gateway rejects is taken back', async () => {
    await home.write({
      'plugins/tea/index.ts': "export default { name: 'tea', description: 'd', config: { at: 'tea', schema: {} }, setup() {} };",
    });
    await plugins('reload');
    const text = readFileSync(home.at('instar.json5'), 'utf8').replace('{\n', '{\n  tea: { strength: 2 },\n');
    writeFileSync(home.at('instar.json5'), text);
    await plugins('reload');
    expect((await plugins('inspect', 'tea')).out).toMatch(/tea\.strength +2 .*instar\.json5:2:10$/m);
    // Nothing of a user's plugin is read while it is off, so that nobody owns its key.
    const { code, err } = await plugins('disable', 'tea');
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^instar: CONFIG_INVALID: .*instar\.json5:2:3 tea: unknown key.*is as it was before\n$/),
    ]);
    expect(readFileSync(home.at('instar.json5'), 'utf8')).toBe(text);
    expect(await list()).toMatchObject({ tea: 'live' });
  });

  test('a reload that is rejected says why, and doctor finds it before', async () => {
    expect((await plugins('reload', 'my-dice')).out).toMatch(/^generation \d+, \d+ ms: my-dice is as it was$/m);
    expect(await plugins('doctor')).toMatchObject({ code: 0, out: expect.stringMatching(/^ok +my-dice /m) });
    const file = home.at('plugins/my-dice/index.ts');
    const sound = readFileSync(file, 'utf8');
    writeFileSync(file, sound.replace('setup(ctx) {', 'setup(ctx) {{{'));
    expect(await plugins('reload', 'my-dice')).toMatchObject({ code: 1, err: expect.stringMatching(/my-dice\/index\.ts/) });
    expect(await plugins('doctor')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^fail +my-dice +the next reload would be rejected/m),
    });
    expect(await list()).toMatchObject({ 'my-dice': 'live' });
    writeFileSync(file, sound);
  });
});

test('where no gateway runs, list, inspect and doctor bring one; reload has nothing to do', async () => {
  await using home = await folder({ 'plugins/empty/notes.txt': '' });
  const plugins = (...args: string[]) => call(home, undefined, args);
  expect(await plugins('list')).toMatchObject({ code: 0, out: expect.stringMatching(/^ {2}gateway +live/m) });
  expect(await plugins('inspect', 'store')).toMatchObject({ code: 0, out: expect.stringMatching(/services +store$/m) });
  expect(await plugins('doctor')).toMatchObject({ code: 0, out: expect.stringMatching(/^warn +empty .*no index\.ts/m) });
  expect(await plugins('reload')).toMatchObject({ code: 1, err: expect.stringContaining('CLI_NOT_RUNNING') });
  expect(await plugins('new', 'later')).toMatchObject({ code: 0, out: expect.not.stringContaining('it is live') });
  expect((await plugins('disable', 'later')).out).toMatch(/later is off/);
  expect(readFileSync(home.at('instar.json5'), 'utf8')).toBe('{\n  plugins: { entries: { later: { enabled: false } } }\n}\n');
});

test.each([
  [['lst'], 64, 'did you mean "list"?'],
  [['inspect'], 64, 'the name of a plugin is missing'],
  [['reload', '--hard'], 64, 'a hard reload is of one plugin: name it'],
])('plugins %j exits with %i: %s', async (args, code, err) => {
  await using home = await folder();
  expect(await instar(home.path, ['plugins', ...args]).ended).toMatchObject({ code, err: expect.stringContaining(err) });
});

import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { start } from '../../../host/booted.ts';
import { type Folder, folder } from '../../../host/folder.ts';
import { config } from './called.ts';

const main = `// mine
{
  gateway: { port: 0, auth: { token: 'a-long-secret' } }, // door
  agents: { list: [{ id: 'main', name: "Main" }, { $include: './ops.json5' }] },
}
`;
const files = { 'instar.json5': main, 'ops.json5': "{ id: 'ops', name: '${SET}' }" };

const opened = () => folder(files);
const text = (home: Folder, file = 'instar.json5') => readFileSync(home.at(file), 'utf8');

describe('get', () => {
  test('tells each value and where it is written, across files; secrets are hidden', async () => {
    await using home = await opened();
    const { out } = await config(home, ['get']);
    expect(out).toContain(`gateway.auth.token   "[hidden]"              ${home.at('instar.json5')}:3:31\n`);
    expect(out).toContain(`agents.list[1].name  "from the environment"  ${home.at('ops.json5')}:1:14\n`);
    expect(out).not.toContain('a-long-secret');
  });

  test.each([
    [['agents.list[ops].name'], '"from the environment"'],
    [['agents.list[1].name', '--raw'], '"${SET}"'],
    [['gateway.auth.token'], '"[hidden]"'],
    [['gateway.auth.token', '--show-secrets'], '"a-long-secret"'],
    [['gateway.bind'], '"loopback"  the default; it is not set'],
    [['gateway.port'], '0'],
  ])('%j prints %s', async (argv, expected) => {
    await using home = await opened();
    expect((await config(home, ['get', ...argv])).out).toMatch(new RegExp(`^${expected.replace(/[[$(){}]/g, '\\$&')}(  |\n)`));
  });

  test('--json is for programs', async () => {
    await using home = await opened();
    const { out } = await config(home, ['get', 'agents.list[main].name', '--json']);
    expect(JSON.parse(out)).toEqual({ path: 'agents.list[0].name', value: 'Main', place: `${home.at('instar.json5')}:4:34` });
  });

  test.each(['agents.list[gone].model', 'bindings[x].agentId'])(
    '%s: an entry that is not written is told as that, not as a key that nobody knows',
    async (path) => {
      await using home = await folder({ 'instar.json5': '{}' });
      const [list = '', id] = path.split(/[[\]]/);
      expect((await config(home, ['get', path])).err).toContain(`${list} has no entry "${id}"`);
    },
  );

  test('what nobody knows is refused, with the nearest key', async () => {
    await using home = await opened();
    expect(await config(home, ['get', 'gateway.prot'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/did you mean "gateway\.port"\?/),
    });
  });
});

describe('without a gateway', () => {
  test('U011 U014: a value is set in the file that has it; nothing else of it and no other file is touched', async () => {
    await using home = await opened();
    const { code, out } = await config(home, ['set', 'agents.list[ops].name', 'Operations']);
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/\+{ id: 'ops', name: 'Operations' }\n[^]*written; it counts from the next start \(change 3\)/),
    ]);
    expect([text(home), text(home, 'ops.json5')]).toEqual([main, "{ id: 'ops', name: 'Operations' }"]);
  });

  test('a config that is not there yet is made, and an undo takes it away again', async () => {
    await using home = await folder();
    const none = { configFile: undefined };
    expect((await config(home, ['set', 'gateway.port', '0'], none)).code).toBe(0);
    expect(text(home)).toBe('{\n  gateway: { port: 0 }\n}\n');
    expect((await config(home, ['undo'], none)).code).toBe(0);
    expect(existsSync(home.at('instar.json5'))).toBe(false);
  });

  test.each([
    [['set', 'gateway.prot', '1'], /instar\.json5:3:57 gateway\.prot: unknown key "prot" \(did you mean "port"\?\); nothing was written/],
    [['set', 'gateway.port', '-1'], /instar\.json5:3:14 gateway\.port: must be >= 0/],
    [['set', 'gateway.port', 'web'], /the config takes integer there; --string/],
    [['set', 'gateway.port', '"1"'], /instar\.json5:3:14 gateway\.port: must be integer/],
    [
      ['set', 'gateway.auth.token', '${NOT_SET_ANYWHERE}'],
      /instar\.json5:3:31 gateway\.auth\.token: the environment variable NOT_SET_ANYWHERE/,
    ],
    [['set', 'gateway', '[1'], /cannot be read/],
    [['set', 'gateway.auth.token'], /set takes a path and a value/],
    [['set', 'a', '1', '2'], /set takes one value/],
    [['unset', 'agents.list[main].id'], /agents\.list\[0\]: "id" is missing/],
    [['set', '__proto__.a', '1'], /__proto__/],
    [['undo', 'x'], /is no number of a change/],
    [['undo', '99'], /no change 99/],
    [['diff'], /no gateway runs/],
  ])('%j is refused, and nothing is written', async (argv, message) => {
    await using home = await opened();
    const { code, err } = await config(home, argv);
    expect([code, err]).toEqual([err.includes('CLI_USAGE') ? 64 : 1, expect.stringMatching(message)]);
    expect([text(home), text(home, 'ops.json5')]).toEqual([main, files['ops.json5']]);
  });

  test('U023: a fault that was there before does not stop an edit elsewhere', async () => {
    await using home = await folder({ 'instar.json5': '{ gateway: { prot: 1 } }' });
    expect((await config(home, ['set', 'gateway.port', '0'])).code).toBe(0);
    expect(text(home)).toBe('{ gateway: { prot: 1, port: 0 } }');
  });

  test('a key that only a plugin of the user can know is written, and named', async () => {
    await using home = await opened();
    await home.write({ 'plugins/tea/index.ts': '' });
    const { code, err } = await config(home, ['set', 'tea.strength', '2']);
    expect([code, err]).toEqual([0, expect.stringMatching(/WARNING: .*tea: unknown key "tea"/)]);
  });

  test('SPEC 1.6: in an openclaw.json a key that has no effect here is written, and named', async () => {
    await using home = await folder({ 'openclaw.json': '{ "gateway": { "port": 0 } }' });
    const theirs = { configFile: home.at('openclaw.json') };
    const { code, err } = await config(home, ['set', 'wizard.lastRunAt', 'today'], theirs);
    expect([code, err]).toEqual([0, expect.stringMatching(/WARNING: .*openclaw\.json:1:29 wizard: unknown key/)]);
    expect(text(home, 'openclaw.json')).toBe('{ "gateway": { "port": 0 }, "wizard": { "lastRunAt": "today" } }');
  });

  test.each([
    [['gateway.auth.token', '12345678'], "token: '12345678'"],
    [['gateway.auth.token', 'bare-word'], "token: 'bare-word'"],
    [['gateway.auth.token', '{ a: 1', '--string'], "token: '{ a: 1'"],
    [['gateway.port', '0x10'], 'port: 16'],
    [['agents.list[main]', "{ id: 'main', name: 'M' }"], "[{ id: 'main', name: 'M' }, {"],
    [['agents.list[main].name', '"q"', '--json'], 'name: "q"'],
  ])('set %j writes %s', async (argv, written) => {
    await using home = await opened();
    expect((await config(home, ['set', ...argv])).err).toBe('');
    expect(text(home)).toContain(written);
  });

  test('--dry-run shows the difference, secrets hidden, and writes nothing', async () => {
    await using home = await opened();
    const { out } = await config(home, ['set', 'gateway.auth.token', 'another-secret', '--dry-run']);
    expect(out).toMatch(/^-.*token: '\[hidden [0-9a-f]{4}\]'.*\n\+.*token: '\[hidden [0-9a-f]{4}\]'/m);
    expect(out).not.toContain('secret');
    expect(text(home)).toBe(main);
  });

  test('what is so already is told, and is no change', async () => {
    await using home = await opened();
    expect((await config(home, ['set', 'gateway.port', '0'])).out).toBe('gateway.port is that already\n');
    expect((await config(home, ['unset', 'gateway.bind'])).out).toBe('gateway.bind is not set\n');
    expect(JSON.parse((await config(home, ['history', '--json'])).out)).toHaveLength(2);
  });

  test('the history says who and what, never a value; undo takes back one change, and is undone likewise', async () => {
    await using home = await opened();
    await config(home, ['set', 'gateway.auth.token', 'another-secret']);
    await config(home, ['set', 'agents.list[main].name', 'New']);
    const history = await config(home, ['history']);
    expect(history.out).toMatch(/ 4 {2}\S+ \S+ {2}\S+ +set agents\.list\[0\]\.name /);
    expect((await config(home, ['history', '--json'])).out).not.toContain('another-secret');
    expect((await config(home, ['undo', '3'])).err).toBe('');
    expect(text(home)).toBe(main.replace('"Main"', '"New"'));
    await config(home, ['undo']);
    expect(text(home)).toContain('another-secret');
    expect((await config(home, ['diff', '4'])).out).toMatch(/^-.*"Main".*\n\+.*"New"/m);
    expect((await config(home, ['diff', '2', '4'])).out).toMatch(/^-.*"Main"[^]*^\+.*hidden[^]*^\+.*"New"/m);
  });

  test('undo never takes a hand edit away in silence', async () => {
    await using home = await opened();
    await config(home, ['set', 'agents.list[main].name', 'New']);
    const byHand = text(home).replace('// mine', '// by hand');
    writeFileSync(home.at('instar.json5'), byHand);
    expect(await config(home, ['undo'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/change 4 .* was made by hand: "instar config undo 4"/),
    });
    expect(text(home)).toBe(byHand);
    expect((await config(home, ['undo', '3'])).code).toBe(0);
    expect(text(home)).toBe(main.replace('// mine', '// by hand'));
    expect((await config(home, ['undo', '4'])).code).toBe(0);
    expect(text(home)).toBe(main);
    await config(home, ['set', 'agents.list[main].name', 'Newer']);
    expect(await config(home, ['undo', '3'])).toMatchObject({ code: 1, err: expect.stringContaining('the same lines') });
  });

  test('U024: a config that no longer parses is told with its place, and undo brings back what parsed', async () => {
    await using home = await opened();
    await config(home, ['get']);
    writeFileSync(home.at('instar.json5'), main.slice(0, 33));
    expect((await config(home, ['get'])).err).toMatch(/^instar: CONFIG_TEXT: .*instar\.json5:3:\d+: invalid end of input/);
    expect((await config(home, ['undo'])).err).toContain('undo 3" takes it back');
    expect((await config(home, ['undo', '3'])).code).toBe(0);
    expect(text(home)).toBe(main);
  });
});

describe('edit', () => {
  const editor = async (home: Folder, script: string) => {
    await home.write({ 'editor.sh': `#!/bin/sh\n${script}\n` });
    chmodSync(home.at('editor.sh'), 0o755);
    return { env: { EDITOR: home.at('editor.sh'), SET: 'x' } };
  };

  test('opens a copy, and puts in place what passes the check', async () => {
    await using home = await opened();
    const { code } = await config(home, ['edit'], await editor(home, 'sed -i s/Main/Chief/ "$1"'));
    expect([code, text(home)]).toEqual([0, main.replace('Main', 'Chief')]);
    expect((await config(home, ['edit'], await editor(home, 'true'))).out).toBe('nothing was changed\n');
  });

  test('what does not pass is refused, and kept as the person left it', async () => {
    await using home = await opened();
    const { err } = await config(home, ['edit'], await editor(home, 'sed -i s/name:/nmae:/ "$1"'));
    const [, copy = ''] = /your text is kept in (\S+)/.exec(err) ?? [];
    expect([err, text(home)]).toEqual([expect.stringMatching(/4:34 agents\.list\[0\]\.nmae: unknown key "nmae"/), main]);
    expect(readFileSync(copy, 'utf8')).toBe(main.replace('name:', 'nmae:'));
  });

  test('somebody who writes meanwhile wins, and is not overwritten', async () => {
    await using home = await opened();
    const racing = await editor(home, `sed -i s/Main/Chief/ "$1"; echo '// theirs' >> ${home.at('instar.json5')}`);
    expect(await config(home, ['edit'], racing)).toMatchObject({ code: 1, err: expect.stringContaining('CONFIG_CONFLICT') });
    expect(text(home)).toBe(`${main}// theirs\n`);
  });

  test('an included file is named; any other is refused', async () => {
    await using home = await opened();
    const changed = await editor(home, 'sed -i s/ops/oops/ "$1"');
    expect((await config(home, ['edit', '--file', home.at('ops.json5')], changed)).code).toBe(0);
    expect(text(home, 'ops.json5')).toContain("'oops'");
    expect((await config(home, ['edit', '--file', home.at('editor.sh')], changed)).err).toContain('is no file of this config');
  });
});

describe('with a running gateway', () => {
  let home: Folder;
  let gateway: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    home = await opened();
    gateway = await start(home, { env: { INSTAR_NO_DETECT: '1', SET: 'x' } });
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
  });

  test('SPEC 14.3: an edit is live when the command ends, and says in which generation', async () => {
    const { out } = await config(home, ['set', 'agents.list[main].name', 'Live']);
    const { generation } = await gateway.inspect();
    expect(out).toMatch(new RegExp(`live in generation ${generation} \\(change \\d+\\)\n$`));
    expect((await config(home, ['diff'])).out).toBe('what runs is what the files say\n');
    expect(JSON.parse((await config(home, ['unset', 'agents.list[main].name', '--json'])).out)).toMatchObject({
      written: true,
      generation: generation + 1,
    });
  });

  test('an edit that the gateway rejects is taken back, and is no change', async () => {
    const before = text(home);
    const plugin =
      "export default { name: 'tea', description: 'd', required: true, config: { at: 'tea', schema: { type: 'object', properties: { strength: { type: 'number', maximum: 5 } } } }, setup() {} };";
    await home.write({ 'plugins/tea/index.ts': plugin });
    await gateway.run(async (run) => run.get((await import('../../../../kernel/index.ts')).Host).reload());
    const { code, err } = await config(home, ['set', 'tea.strength', '9']);
    expect([code, err]).toEqual([1, expect.stringMatching(/CONFIG_INVALID: .*tea\.strength: must be <= 5.*is as it was before/)]);
    expect(text(home)).toBe(before);
    expect((await config(home, ['history'])).out).not.toContain('tea');
  });

  test('a token of the gateway can be replaced, though it ends our own connection', async () => {
    const { out, err } = await config(home, ['set', 'gateway.auth.token', 'another-long-secret']);
    expect([out, err]).toEqual([expect.stringMatching(/live in generation \d+/), '']);
  });

  test('diff shows what the files say and the gateway rejected', async () => {
    const before = text(home);
    writeFileSync(home.at('instar.json5'), before.replace('port:', 'prot:'));
    await gateway.run(async (run) => run.get((await import('../../../../kernel/index.ts')).Host).reload([])).catch(() => {});
    expect((await config(home, ['diff'])).out).toMatch(/^-.*port: 0.*\n\+.*prot: 0/m);
    writeFileSync(home.at('instar.json5'), before);
  });

  test('a config that the running gateway does not use is written, and the difference told', async () => {
    await home.write({ 'other.json5': '{}' });
    const { err } = await config(home, ['set', 'gateway.port', '0'], {
      configFile: home.at('other.json5'),
      env: { INSTAR_GATEWAY_TOKEN: 'another-long-secret' },
    });
    expect(err).toMatch(/WARNING: the running gateway has another config, .*instar\.json5/);
  });
});

test('a verb of another plugin is an entry `config <verb>` of its commands', async () => {
  await using home = await folder({ 'verb.mjs': "export const run = async (argv) => { console.log('checks ' + argv); return 3; };" });
  const commands = new Map([['config check', { summary: '', usage: '', module: home.at('verb.mjs') }]]);
  expect(await config(home, ['check', 'x'], { commands })).toMatchObject({ code: 3, out: 'checks x\n' });
  expect(await config(home, ['chek'], { commands })).toMatchObject({ code: 64, err: expect.stringContaining('did you mean "check"?') });
});

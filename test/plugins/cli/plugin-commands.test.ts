import { expect, test } from 'vitest';
import { bundledCommands, loadCommand, withUsers } from '../../../plugins/cli/commands.ts';
import { readConfig } from '../../../plugins/cli/text/config-text.ts';
import { type Folder, folder } from '../../host/folder.ts';
import { instar } from '../../host/instar.ts';

const index = "import { definePlugin } from 'instar';\nthrow new Error('help ran me');\nexport default definePlugin({});";
const declared = (...names: readonly string[]) =>
  JSON.stringify(Object.fromEntries(names.map((name) => [name, { summary: `does ${name}`, usage: `instar ${name}`, module: './run.ts' }])));
const plugin = (path: string, commands: string) => ({ [`${path}/index.ts`]: index, [`${path}/commands.json`]: commands });

const found = async (home: Folder, config?: string) => {
  if (config !== undefined) await home.write({ 'instar.json5': config });
  const configFile = config === undefined ? undefined : home.at('instar.json5');
  const { commands, warnings } = await withUsers(bundledCommands(), {
    home: home.path,
    env: {},
    configFile,
    readConfig: async (...of) => readConfig(...of),
  });
  return { commands, warnings, theirs: [...commands].filter(([, one]) => one.plugin).map(([name, one]) => `${one.plugin}: ${name}`) };
};

test('commands come from the folders where plugins are found, but not from one that is switched off', async () => {
  await using home = await folder({
    ...plugin('plugins/here', declared('one')),
    ...plugin('elsewhere/there', declared('two')),
    ...plugin('single', declared('three')),
    ...plugin('plugins/off', declared('four')),
    'node_modules/instar-plugin-packed/package.json': '{ "main": "index.js" }',
    'node_modules/instar-plugin-packed/index.js': '',
    'node_modules/instar-plugin-packed/commands.json': declared('five'),
    'plugins/no-plugin/commands.json': declared('six'),
  });
  const config =
    "{ plugins: { paths: ['./elsewhere', './single'], packages: ['instar-plugin-packed'], entries: { off: { enabled: false } } } }";
  const { theirs, warnings } = await found(home, config);
  expect(theirs).toEqual(['here: one', 'there: two', 'single: three', 'packed: five']);
  expect(warnings).toEqual([]);
});

test('a name that Instar has stays its own; of two plugins the first has the name; each loss is told', async () => {
  await using home = await folder({ ...plugin('plugins/a', declared('status', 'mine')), ...plugin('plugins/b', declared('mine')) });
  const { commands, theirs, warnings } = await found(home);
  expect(theirs).toEqual(['a: mine']);
  expect(commands.get('status')?.summary).toMatch(/^Show what/);
  expect(warnings).toEqual([
    'plugin "a": its command "status" is left out: Instar has one of that name; rename it',
    'plugin "b": its command "mine" is left out: plugin "a" has one of that name; rename it',
  ]);
});

test.each([
  ['no JSON', '{', /JSON/],
  ['a list', '[]', /must be an object of commands/],
  ['null', 'null', /must be an object of commands/],
  ['an odd name', declared('--help'), /"--help" is no command name/],
  ['a part that is missing', '{"x": {"summary": "s", "usage": "u"}}', /"x" must be \{ "summary", "usage", "module" \}/],
  ['a module elsewhere', '{"x": {"summary": "s", "usage": "u", "module": "../../../etc/x.ts"}}', /must lie in the plugin's folder/],
])('commands.json with %s is told, and takes nothing else down', async (_, commands, why) => {
  await using home = await folder({ ...plugin('plugins/bad', commands), ...plugin('plugins/good', declared('fine')) });
  const { theirs, warnings } = await found(home);
  expect(theirs).toEqual(['good: fine']);
  expect(warnings).toEqual([expect.stringMatching(why)]);
  expect(warnings[0]).toContain(home.at('plugins/bad/commands.json'));
});

test('what a plugin says of itself cannot move the cursor', async () => {
  await using home = await folder(
    plugin('plugins/x', JSON.stringify({ x: { summary: '\u001b[2Jgone', usage: 'instar\u001b[1A x', module: './run.ts' } })),
  );
  const { commands } = await found(home);
  expect(JSON.stringify([...commands])).not.toContain('\\u001b');
});

test('a config that cannot be read hides no plugin of the usual folder', async () => {
  await using home = await folder(plugin('plugins/here', declared('one')));
  const { theirs, warnings } = await found(home, '{ plugins: ');
  expect(theirs).toEqual(['here: one']);
  expect(warnings).toEqual([expect.stringMatching(/^not all plugins were searched for commands: .*instar\.json5:1:/)]);
});

test.each([
  ['is not there', {}, /command "one" of plugin "here": .*run\.ts/],
  ['does not compile', { 'plugins/here/run.ts': 'export const run = (' }, /command "one" of plugin "here": .*run\.ts/],
  ['exports no run', { 'plugins/here/run.ts': 'export const ran = 1' }, /run\.ts must export a function "run"/],
])('a module that %s fails by name', async (_, files, why) => {
  await using home = await folder({ ...plugin('plugins/here', declared('one')), ...files });
  const { commands } = await found(home);
  await expect(loadCommand('one', commands.get('one')!)).rejects.toMatchObject({
    code: 'COMMAND_LOAD',
    message: expect.stringMatching(why),
  });
});

test('SPEC 15.2: help lists a plugin’s command without running the plugin; a call runs its TypeScript with our names', async () => {
  await using home = await folder({
    ...plugin('plugins/here', declared('one', 'chat')),
    'plugins/here/run.ts': `
      import { columns, exitCodes, type RunCommand } from 'instar/contracts/cli';
      import { KernelError } from 'instar';
      import { word } from './word.ts';
      export const run: RunCommand = async ([arg], host) => {
        if (!arg) throw new KernelError('NO_ARG', 'say something');
        console.log(columns([{ label: word, value: arg + ' ' + host.home }]));
        return exitCodes.locked;
      };`,
    'plugins/here/word.ts': "export const word: string = 'said';",
  });
  const help = await instar(home.path, ['--help']).ended;
  expect([help.code, help.out]).toEqual([0, expect.stringMatching(/^ {2}chat +Talk to[^]*\nof your plugins:\n {2}one +does one\n/m)]);
  expect(help.err).toBe('instar: plugin "here": its command "chat" is left out: Instar has one of that name; rename it\n');
  expect((await instar(home.path, ['one', '--help']).ended).out).toBe(
    'usage: instar one\n\ndoes one\n\nIt comes with your plugin "here".\n',
  );
  expect(await instar(home.path, ['one', 'hello']).ended).toEqual({ code: 75, out: `  said  hello ${home.path}\n`, err: '' });
  expect(await instar(home.path, ['one']).ended).toEqual({ code: 1, out: '', err: 'instar: NO_ARG: say something\n' });
  expect((await instar(home.path, ['oen']).ended).err).toMatch(/did you mean "one"\?\n$/);
});

import { expect, test } from 'vitest';
import { bundledCommands } from '../../../plugins/cli/commands.ts';
import { help, usageFor, usageOf } from '../../../plugins/cli/help.ts';

const commands = bundledCommands();
const plainText = (text: string) => text.replaceAll(/\u001b\[\d+m/g, '');
const helpOf = (name: string) => plainText(usageOf(name, commands.get(name)!, commands));

test('help lists each command once; a verb that another plugin adds stands with its command', () => {
  expect(help(commands)).not.toMatch(/^ {2}config check/m);
  expect(helpOf('config')).toMatch(/^ {2}check \[FILE\] \[--json\] +Tell which keys/m);
});

test.each([...commands].filter(([, { verbs }]) => verbs).map(([name]) => [name]))('instar %s --help has a line per verb', (name) => {
  const { usage, verbs = {} } = commands.get(name)!;
  const lines = helpOf(name).split('\n');
  for (const [line, summary] of Object.entries(verbs)) {
    expect(lines.filter((one) => one.startsWith(`  ${line}`))).not.toEqual([]);
    expect(lines.some((one) => one.endsWith(summary))).toBe(true);
  }
  expect(lines[0]).toBe(`usage: ${usage}`);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(150);
});

test.each([
  ['plugins', ['inspect', 'a', 'b'], 'instar plugins inspect NAME'],
  ['models', ['auth', 'add', '--x'], 'instar models auth add PROVIDER [--env NAME] [--profile ID] [--mode api_key|token|oauth]'],
  ['models', ['auth', 'x'], 'instar models list|explain|doctor|auth [--json]'],
  ['agent', ['--mesage'], 'instar agent --message TEXT [--agent ID] [--session KEY] [--model PROVIDER/ID] [--json]'],
  ['outbox', ['retry'], 'instar outbox retry ID|--all'],
])('a misuse of %s %j is told the usage of that alone', (name, argv, usage) => {
  expect(usageFor(name, commands.get(name)!, argv)).toBe(usage);
});

import type { Commands } from './commands.ts';
import type { Command } from './contract.ts';
import { bold, hanging } from './contract/terminal.ts';

/** What `instar --help` prints: a line per command, ours first. */
export function help(commands: Commands): string {
  const alone = [...commands].filter(([name]) => !name.includes(' '));
  const width = Math.max(...alone.map(([name]) => name.length));
  const row = ([name, { summary }]: readonly [string, Command]) => `  ${name.padEnd(width)}  ${hanging(summary, width + 4)}`;
  const { ours = [], theirs = [] } = Object.groupBy(alone, ([, { plugin }]) => (plugin === undefined ? 'ours' : 'theirs'));
  const yours = theirs.length ? ['', 'of your plugins:', ...theirs.map(row)] : [];
  const more = 'instar <command> --help tells its options; instar --version';
  const where =
    'All state is in one folder, ~/.instar or what INSTAR_HOME names; the config is --config, INSTAR_CONFIG or instar.json5 in it.';
  return ['usage: instar <command> [options] [--config FILE]', '', ...ours.map(row), ...yours, '', more, where].join('\n');
}

/** What `instar NAME --help` prints: of a command with verbs a line each, those of other plugins too. */
export function usageOf(name: string, command: Command, commands: Commands): string {
  const from = command.plugin ? ['', `It comes with your plugin "${command.plugin}".`] : [];
  const rows = verbsOf(name, command, commands);
  const width = Math.min(34, Math.max(0, ...rows.map(([usage]) => usage.length)));
  const lines = rows.map(([usage, summary]) => verbLine(usage, summary, width));
  return [`usage: ${command.usage}`, '', command.summary, ...(lines.length ? ['', ...lines] : []), ...from].join('\n');
}

/** A usage too long for its column has a line of its own. */
function verbLine(usage: string, summary: string, width: number): string {
  const gap = usage.length > width ? `\n  ${' '.repeat(width)}` : ' '.repeat(width - usage.length);
  return `  ${bold(usage)}${gap}  ${hanging(summary, width + 4)}`;
}

function verbsOf(name: string, { verbs = {} }: Command, commands: Commands): readonly (readonly [usage: string, summary: string])[] {
  const others = [...commands].filter(([other]) => other.startsWith(`${name} `));
  return [...Object.entries(verbs), ...others.map(([, { usage, summary }]) => [usage.replace(`instar ${name} `, ''), summary] as const)];
}

/** The usage that a misuse is told: of the verb that was called, where there is one. */
export function usageFor(name: string, { verbs = {}, usage }: Command, argv: readonly string[]): string {
  const words = (line: string) => /^[a-z -]*/.exec(line)?.[0].trim().split(' ') ?? [];
  const called = Object.keys(verbs).filter((line) => words(line).every((word, i) => word === argv[i]));
  const [closest] = called.toSorted((a, b) => words(b).length - words(a).length);
  return closest === undefined ? usage : `instar ${name} ${closest}`;
}

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { KernelError, messageOf } from '../../kernel/index.ts';
import type { Command, CommandHost, RunCommand } from './contract.ts';
import { oneLine, plain } from './contract/terminal.ts';
import { userFolders } from './user-folders.ts';

/** By name, with their modules' absolute paths. */
export type Commands = CommandHost['commands'];

const file = 'commands.json';

/** Those of every bundled plugin, ours first. */
export function bundledCommands(): Commands {
  const root = join(import.meta.dirname, '..');
  const commands = new Map<string, Command>();
  for (const plugin of ['cli', ...readdirSync(root)]) {
    const declared = join(root, plugin, file);
    if (!existsSync(declared)) continue;
    for (const [name, command] of Object.entries(JSON.parse(readFileSync(declared, 'utf8')) as Record<string, Command>)) {
      const module = join(root, plugin, command.module.replace(/\.ts$/, extname(import.meta.filename)));
      commands.set(name, { ...command, module });
    }
  }
  return commands;
}

type Facts = Pick<CommandHost, 'home' | 'env' | 'configFile' | 'readConfig'>;

/** With those of the user's plugins, none of which is run: who comes first has the name. `warnings` say what is left out, and why. */
export async function withUsers(ours: Commands, facts: Facts): Promise<{ commands: Commands; warnings: readonly string[] }> {
  const commands = new Map(ours);
  const { folders, problem } = await userFolders(facts);
  const warnings = problem ? [`not all plugins were searched for commands: ${problem}`] : [];
  for (const { plugin, folder } of folders) {
    for (const [name, command] of declaredIn(folder, (why) => warnings.push(`plugin "${plugin}": ${why}`))) {
      const before = commands.get(name);
      const holder = before?.plugin === undefined ? 'Instar' : `plugin "${before.plugin}"`;
      if (before) warnings.push(`plugin "${plugin}": its command "${name}" is left out: ${holder} has one of that name; rename it`);
      else commands.set(name, { ...command, plugin });
    }
  }
  return { commands, warnings };
}

function declaredIn(folder: string, warn: (why: string) => void): readonly (readonly [string, Command])[] {
  const path = join(folder, file);
  if (!existsSync(path)) return [];
  try {
    const declared: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof declared !== 'object' || declared === null || Array.isArray(declared)) throw new Error('it must be an object of commands');
    return Object.entries(declared).map(([name, command]) => [name, shaped(name, command, folder)] as const);
  } catch (cause) {
    warn(`its commands are left out: ${path}: ${oneLine(messageOf(cause), 300)}`);
    return [];
  }
}

/** A user's file: nothing in it is believed before it was looked at, and its text goes to a terminal. */
function shaped(name: string, command: unknown, folder: string): Command {
  const { summary, usage, module, verbs = {} } = (command ?? {}) as Partial<Record<keyof Command, unknown>>;
  if (!/^[a-z][a-z0-9-]{0,63}$/.test(name)) throw new Error(`"${name}" is no command name: a-z first, then a-z, 0-9 and -`);
  if (typeof summary !== 'string' || typeof usage !== 'string' || typeof module !== 'string')
    throw new Error(`"${name}" must be { "summary", "usage", "module" }, each a text`);
  if (typeof verbs !== 'object' || verbs === null || !Object.values(verbs).every((one) => typeof one === 'string'))
    throw new Error(`"verbs" of "${name}" must be an object whose values are texts`);
  const lines = Object.entries(verbs).map(([line, what]) => [oneLine(line, 200), oneLine(String(what), 200)]);
  const path = resolve(folder, module);
  if (!path.startsWith(folder + sep)) throw new Error(`the module of "${name}" must lie in the plugin's folder, not at ${path}`);
  return { summary: oneLine(summary, 200), usage: plain(usage), verbs: Object.fromEntries(lines), module: path };
}

/** The function behind a command: ours is imported; a user's module is made as his plugins are, so that it imports by our names. */
export async function loadCommand(name: string, { module, plugin }: Command): Promise<RunCommand> {
  if (plugin === undefined) return ((await import(pathToFileURL(module).href)) as { run: RunCommand }).run;
  const { bundle } = await import('./bundle.ts');
  const made = await bundle(module).catch((cause) => {
    throw new KernelError('COMMAND_LOAD', `command "${name}" of plugin "${plugin}": ${module}: ${messageOf(cause)}`, { cause });
  });
  if (typeof made.exports.run === 'function') return made.exports.run as RunCommand;
  throw new KernelError('COMMAND_LOAD', `command "${name}" of plugin "${plugin}": ${module} must export a function "run"`);
}

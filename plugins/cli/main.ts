import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { logOf } from '../../kernel/index.ts';
import type { Command, CommandHost, ProcessHost, RunCommand } from './contract.ts';
import { errorLine, exitCodeOf, exitCodes } from './exit.ts';
import { guard } from './guard.ts';
import { bootOrLastGood } from './last-good.ts';
import { provisions } from './provisions.ts';
import { readVersion, surroundings } from './surroundings.ts';

/** Reads the command line; resolves to the exit code. Loads nothing that it does not ask for. */
export async function main(argv: readonly string[], host: ProcessHost): Promise<number> {
  const { config, args } = takeConfig(argv);
  if (config === '') return misused('--config takes the name of a file');
  const [name = '--help', ...rest] = args;
  if (name === '--version' || name === '-v') return say(readVersion());
  const commands = readCommands();
  if (name === '--help' || name === '-h' || name === 'help') return say(help(commands));
  const command = commands.get(name);
  if (!command) return unknown(name, commands);
  if (rest.includes('--help') || rest.includes('-h')) return say(`usage: ${command.usage}\n\n${command.summary}`);
  process.stdout.on('error', () => process.exit(0)); // whoever read our output has left
  const boot: CommandHost['boot'] = async (options) => {
    const brought = await provisions(options);
    const booted = await bootOrLastGood(options, brought.log, (read) => host.boot({ ...options, ...brought, ...(read && { read }) }));
    guard(booted, brought.log);
    logOf(brought.log.sink).info(`ready: Instar ${options.version}`, { pid: process.pid, config: options.configFile });
    return booted;
  };
  const handed = { ...surroundings(config), ...host, boot, commands };
  const ask: CommandHost['ask'] = async (method, params) => (await import('./ask.ts')).ask(handed, method, params);
  const code = await call(command, rest, { ...handed, ask });
  // What a plugin left behind, a timer or a socket, must not keep the process.
  setTimeout(() => process.exit(code), 1000).unref();
  return code;
}

async function call(command: Command, argv: readonly string[], host: CommandHost): Promise<number> {
  try {
    const { run } = (await import(pathToFileURL(command.module).href)) as { run: RunCommand };
    return await run(argv, host);
  } catch (error) {
    return fail(error, command);
  }
}

/** `--config F` means the same to every command. */
function takeConfig(argv: readonly string[]) {
  const at = argv.findIndex((arg) => arg === '--config' || arg.startsWith('--config='));
  const [option, next] = argv.slice(at, at + 2);
  if (at < 0 || argv.slice(0, at).includes('--')) return { config: undefined, args: argv };
  const inline = option?.startsWith('--config=') ? option.slice('--config='.length) : undefined;
  return { config: inline ?? next ?? '', args: argv.toSpliced(at, inline === undefined ? 2 : 1) };
}

/** Those of every bundled plugin, ours first. */
function readCommands(): ReadonlyMap<string, Command> {
  const root = join(import.meta.dirname, '..');
  const commands = new Map<string, Command>();
  for (const plugin of ['cli', ...readdirSync(root)]) {
    const file = join(root, plugin, 'commands.json');
    if (!existsSync(file)) continue;
    for (const [name, command] of Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, Command>)) {
      const module = join(root, plugin, command.module.replace(/\.ts$/, extname(import.meta.filename)));
      commands.set(name, { ...command, module });
    }
  }
  return commands;
}

function say(text: string): number {
  console.log(text);
  return 0;
}

function help(commands: ReadonlyMap<string, Command>): string {
  const width = Math.max(...[...commands.keys()].map((name) => name.length));
  const rows = [...commands].map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  const more = 'instar <command> --help tells its options; instar --version';
  const where = 'All state is in the folder INSTAR_HOME (~/.instar); the config is --config, INSTAR_CONFIG or instar.json5 in it.';
  return ['usage: instar <command> [options] [--config FILE]', '', ...rows, '', more, where].join('\n');
}

async function unknown(name: string, commands: ReadonlyMap<string, Command>): Promise<number> {
  const { nearest } = await import('../../kernel/index.ts');
  const near = nearest(name, commands.keys());
  return misused(`there is no command "${name}"; ${near ? `did you mean "${near}"?` : '"instar --help" lists them'}`);
}

function misused(message: string): number {
  console.error(`instar: ${message}`);
  return exitCodes.usage;
}

/** One line with a code and what to do; a boot that failed has one per fault. */
function fail(error: unknown, { usage }: Command): number {
  const { code = 'UNEXPECTED', message = String(error) } = error as { code?: string; message?: string };
  const isUsage = code.startsWith('ERR_PARSE_ARGS');
  const lines = code === 'BOOT_FAILED' ? message.split('\n') : [message];
  for (const line of lines) console.error(isUsage ? `instar: ${line.split('. ')[0]}; usage: ${usage}` : errorLine({ code, message: line }));
  if (isUsage) return exitCodes.usage;
  return exitCodeOf(error);
}

import { logOf } from '../../kernel/index.ts';
import { bundledCommands, type Commands, loadCommand, withUsers } from './commands.ts';
import { exitCodes, type Command, type CommandHost, type ProcessHost } from './contract.ts';
import { errorLine, exitCodeOf } from './exit.ts';
import { faultDesk } from './fault-desk.ts';
import { help, usageFor, usageOf } from './help.ts';
import { guard } from './guard.ts';
import { bootOrLastGood } from './last-good.ts';
import { provisions } from './provisions.ts';
import { typedIn } from './npm-folder.ts';
import { lockTaker } from './state-folder.ts';
import { readVersion, surroundings } from './surroundings.ts';

/** Reads the command line; resolves to the exit code. Loads nothing that it does not ask for. */
export async function main(argv: readonly string[], host: ProcessHost): Promise<number> {
  const folder = typedIn(process.env, process.cwd());
  if (folder !== undefined) process.chdir(folder);
  const { config, args } = takeConfig(argv);
  if (config === '') return misused('--config takes the name of a file');
  const [name = '--help', ...rest] = args;
  if (name === '--version' || name === '-v') return say(readVersion());
  const readConfig: CommandHost['readConfig'] = async (...of) => (await import('./text/config-text.ts')).readConfig(...of);
  const commands = await commandsFor(name, () => ({ ...surroundings(config), readConfig }));
  if (name === '--help' || name === '-h' || name === 'help') return say(help(commands));
  const command = commands.get(name);
  if (!command) return unknown(name, commands);
  if (rest.includes('--help') || rest.includes('-h')) return say(usageOf(name, command, commands));
  process.stdout.on('error', () => process.exit(0)); // whoever read our output has left
  const boot: CommandHost['boot'] = async (options) => {
    const desk = faultDesk();
    const provided = await provisions(options);
    const brought = desk.around(provided);
    // From before any plugin is set up, so that it knows whose what follows is, to the end of the process: a straggler
    // that fails after the stop must not make an orderly end look like a crash.
    guard(provided.log, desk);
    const booted = await bootOrLastGood(options, brought.log, (read) => host.boot({ ...options, ...brought, ...(read && { read }) }));
    desk.open(booted.run);
    logOf(brought.log.sink).info(`ready: Instar ${options.version}`, { pid: process.pid, config: options.configFile });
    return booted;
  };
  const handed = { ...surroundings(config), ...host, takeLock: lockTaker(host.takeLock), boot, commands, readConfig };
  const ask: CommandHost['ask'] = async (method, params) => (await import('./ask.ts')).ask(handed, method, params);
  const code = await call(name, command, rest, { ...handed, ask });
  // What a plugin left behind, a timer or a socket, must not keep the process.
  setTimeout(() => process.exit(code), 1000).unref();
  return code;
}

/** Those of users' plugins are looked at where the name is none of ours, which theirs cannot take. */
async function commandsFor(name: string, facts: () => Parameters<typeof withUsers>[1]): Promise<Commands> {
  const ours = bundledCommands();
  if (ours.has(name)) return ours;
  const { commands, warnings } = await withUsers(ours, facts());
  if (!commands.has(name)) for (const warning of warnings) console.error(`instar: ${warning}`);
  return commands;
}

async function call(name: string, command: Command, argv: readonly string[], host: CommandHost): Promise<number> {
  try {
    const run = await loadCommand(name, command);
    return await run(argv, host);
  } catch (error) {
    return fail(error, usageFor(name, command, argv));
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

function say(text: string): number {
  console.log(text);
  return 0;
}

async function unknown(name: string, commands: Commands): Promise<number> {
  const { nearest } = await import('../../kernel/index.ts');
  const near = nearest(name, commands.keys());
  return misused(`there is no command "${name}"; ${near ? `did you mean "${near}"?` : '"instar --help" lists them'}`);
}

function misused(message: string): number {
  console.error(`instar: ${message}`);
  return exitCodes.usage;
}

/** One line with a code and what to do; a boot that failed has one per fault. */
function fail(error: unknown, usage: string): number {
  const { code = 'UNEXPECTED', message = String(error) } = error as { code?: string; message?: string };
  const isParser = code.startsWith('ERR_PARSE_ARGS'); // of node:util, whose first sentence says it
  const isUsage = isParser || code === 'CLI_USAGE';
  const lines = code === 'BOOT_FAILED' ? message.split('\n') : [message];
  for (const line of lines)
    console.error(isUsage ? `instar: ${isParser ? line.split('. ')[0] : line}; usage: ${usage}` : errorLine({ code, message: line }));
  if (isUsage) return exitCodes.usage;
  return exitCodeOf(error);
}

import { type CommandHost, exitCodes } from '../../cli/contract.ts';

/** The one KEY that a verb takes; where there is none or more, says so and gives the exit code. */
export function oneKey(verb: string, positionals: readonly string[], host: CommandHost): string | number {
  const [key, ...more] = positionals;
  if (key && more.length === 0) return key;
  console.error(`instar: sessions ${verb} takes one session key; usage: ${host.commands.get('sessions')?.usage}`);
  return exitCodes.usage;
}

/** A count given as an option. */
export function countOf(option: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw Object.assign(new TypeError(`--${option} takes a whole number from 1, not "${value}"`), { code: 'ERR_PARSE_ARGS_INVALID' });
}

import { type CommandHost, exitCodes } from '../../cli/contract.ts';

/** The one ID that a verb takes; where there is none or more, says so and gives the exit code. */
export function oneId(verb: string, positionals: readonly string[], host: CommandHost): string | number {
  const [id, ...more] = positionals;
  if (id && more.length === 0) return id;
  console.error(`instar: outbox ${verb} takes one id of "outbox list"; usage: ${host.commands.get('outbox')?.usage}`);
  return exitCodes.usage;
}

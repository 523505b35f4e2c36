import { parseArgs } from 'node:util';
import { nearest } from '../../kernel/index.ts';
import { type CommandHost, exitCodes, type RunCommand } from '../cli/contract.ts';
import type { Explanation } from './contract.ts';
import { show } from './show.ts';

const one = { type: 'string' } as const;
const options = {
  channel: one,
  account: one,
  peer: one,
  thread: one,
  guild: one,
  team: one,
  role: { type: 'string', multiple: true },
  text: one,
  json: { type: 'boolean' },
} as const;

/** `instar route explain`: asks the code that routes. */
export const run: RunCommand = async ([verb = '', ...argv], host) => {
  if (verb !== 'explain') return usage(host, verb ? unknown(verb) : 'route needs a verb');
  const { values } = parseArgs({ args: [...argv], options });
  const { channel, account, peer, thread, guild, team, role, text, json } = values;
  if (!channel) return usage(host, '--channel is missing');
  if (thread !== undefined && peer === undefined) return usage(host, '--thread needs --peer, the chat that it is in');
  const params = { channel, accountId: account, peer, threadId: thread, guildId: guild, teamId: team, roles: role, text };
  const explanation = await host.ask<Explanation>('route.explain', params);
  console.log(json ? JSON.stringify(explanation) : show(explanation));
  return 0;
};

const unknown = (verb: string) => `route has no "${verb}"${nearest(verb, ['explain']) ? '; did you mean "explain"?' : ''}`;

function usage(host: CommandHost, what: string): number {
  console.error(`instar: ${what}; usage: ${host.commands.get('route')?.usage}`);
  return exitCodes.usage;
}

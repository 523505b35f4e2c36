import { parseArgs } from 'node:util';
import { byVerb, misused, type RunCommand } from '../cli/contract.ts';
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
const explain: RunCommand = async (argv, host) => {
  const { values } = parseArgs({ args: [...argv], options });
  const { channel, account, peer, thread, guild, team, role, text, json } = values;
  if (!channel) throw misused('--channel is missing');
  if (thread !== undefined && peer === undefined) throw misused('--thread needs --peer, the chat that it is in');
  const params = { channel, accountId: account, peer, threadId: thread, guildId: guild, teamId: team, roles: role, text };
  const explanation = await host.ask<Explanation>('route.explain', params);
  console.log(json ? JSON.stringify(explanation) : show(explanation));
  return 0;
};

export const run = byVerb('route', { explain: async () => ({ run: explain }) });

import { parseArgs } from 'node:util';
import { plain, type RunCommand } from '../../cli/contract.ts';
import type { SessionRecord } from '../../sessions/contract.ts';
import { oneKey } from './one-key.ts';

/** `instar sessions reset KEY`: the key stays, another conversation begins. */
export const run: RunCommand = async (argv, host) => {
  const { values, positionals } = parseArgs({ args: [...argv], options: { json: { type: 'boolean' } }, allowPositionals: true });
  const sessionKey = oneKey('reset', positionals);
  const { session } = await host.ask<{ readonly session: SessionRecord }>('sessions.reset', { sessionKey });
  console.log(values.json ? JSON.stringify({ session }) : `${plain(session.key)} begins anew; the old transcript stays on disk`);
  return 0;
};

import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { exitCodes, misused, oneLine, plain, type RunCommand } from '../../cli/contract.ts';
import type { Shown } from '../contract.ts';
import { oneKey } from './one-key.ts';

/** `instar sessions delete KEY`: with its transcript, for good; asks first. */
export const run: RunCommand = async (argv, host) => {
  const options = { json: { type: 'boolean' }, yes: { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
  const sessionKey = oneKey('delete', positionals);
  if (!values.yes && !process.stdin.isTTY) throw misused('nobody can be asked here; --yes deletes the session and its transcript for good');
  if (!values.yes && !(await isMeant(await host.ask<Shown>('sessions.show', { sessionKey, last: 1 })))) return exitCodes.failed;
  await host.ask('sessions.remove', { sessionKey });
  console.log(values.json ? JSON.stringify({ sessionKey, removed: true }) : `${plain(sessionKey)} is gone`);
  return 0;
};

async function isMeant({ session, messages }: Shown): Promise<boolean> {
  using terminal = createInterface({ input: process.stdin, output: process.stdout });
  const what = `${plain(session.key)} (${messages} messages${session.title ? `, "${oneLine(session.title, 40)}"` : ''})`;
  return /^y(es)?$/i.test(await terminal.question(`Delete ${what} for good? (y/N) `));
}

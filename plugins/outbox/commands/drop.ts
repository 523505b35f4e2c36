import { parseArgs } from 'node:util';
import type { RunCommand } from '../../cli/contract.ts';
import { oneId } from './one-id.ts';

/** `instar outbox drop ID`: it is not sent any more; its row is kept for a week, and "retry" takes it back. */
export const run: RunCommand = async (argv, host) => {
  const { values, positionals } = parseArgs({ args: [...argv], options: { json: { type: 'boolean' } }, allowPositionals: true });
  const id = oneId('drop', positionals);
  const { dropped } = await host.ask<{ readonly dropped: string }>('outbox.drop', { id });
  console.log(values.json ? JSON.stringify({ dropped }) : `${dropped} will not be sent; "instar outbox retry" takes that back for a week`);
  return 0;
};

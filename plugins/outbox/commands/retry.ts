import { parseArgs } from 'node:util';
import type { RunCommand } from '../../cli/contract.ts';
import { oneId } from './one-id.ts';

/** `instar outbox retry ID | --all`: sends again, from the first attempt. */
export const run: RunCommand = async (argv, host) => {
  const options = { json: { type: 'boolean' }, all: { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
  const isAll = values.all === true && positionals.length === 0;
  const id = isAll ? '' : oneId('retry', positionals);
  const { retried } = await host.ask<{ readonly retried: readonly string[] }>('outbox.retry', isAll ? { all: true } : { id });
  if (values.json) console.log(JSON.stringify({ retried }));
  else if (retried.length === 0) console.log('There are no dead letters.');
  else console.log(`${told(id, retried)} on the way again; "instar outbox list" shows how it went`);
  return 0;
};

function told(id: string, [first = '', ...more]: readonly string[]): string {
  if (more.length) return `${more.length + 1} answers are`;
  return first.startsWith(id) ? `${first} is` : `${id} waits behind ${first}, which is`;
}

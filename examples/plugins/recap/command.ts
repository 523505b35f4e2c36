import { parseArgs } from 'node:util';
import { columns, oneLine, type RunCommand } from 'instar/contracts/cli';
import type { Recap } from './contract.ts';

/** `instar recap`: of the running gateway, or of one that runs for the call. What it throws is printed, and exits with 1. */
export const run: RunCommand = async (argv, host) => {
  const options = { session: { type: 'string' }, count: { type: 'string', short: 'n' }, json: { type: 'boolean' } } as const;
  const { values } = parseArgs({ args: [...argv], options });
  const { session, count } = values;
  const recap = await host.ask<Recap>('recap.read', { ...(session && { session }), ...(count && { count: Number(count) }) });
  if (values.json) console.log(JSON.stringify(recap));
  else console.log(columns(recap.said.map(({ who, text }) => ({ label: who, value: oneLine(text, 200) }))));
  return 0;
};

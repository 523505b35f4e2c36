import { parseArgs } from 'node:util';
import { misused, plain, type RunCommand } from '../../cli/contract.ts';
import type { CompactReport } from '../../compaction/contract.ts';

/** `instar sessions compact KEY [INSTRUCTIONS]`: the older part becomes a summary. */
export const run: RunCommand = async (argv, host) => {
  const { values, positionals } = parseArgs({ args: [...argv], options: { json: { type: 'boolean' } }, allowPositionals: true });
  const [sessionKey, ...words] = positionals;
  if (!sessionKey) throw misused('sessions compact takes a session key');
  const instructions = words.join(' ');
  const report = await host.ask<CompactReport>('sessions.compact', { sessionKey, ...(instructions && { instructions }) });
  console.log(values.json ? JSON.stringify(report) : plain(report.text));
  return 0;
};

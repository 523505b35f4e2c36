import { parseArgs } from 'node:util';
import { exitCodes, plain, type RunCommand } from '../../cli/contract.ts';
import type { CompactReport } from '../../compaction/contract.ts';

/** `instar sessions compact KEY [INSTRUCTIONS]`: the older part becomes a summary. */
export const run: RunCommand = async (argv, host) => {
  const { values, positionals } = parseArgs({ args: [...argv], options: { json: { type: 'boolean' } }, allowPositionals: true });
  const [sessionKey, ...words] = positionals;
  if (!sessionKey) {
    console.error(`instar: sessions compact takes a session key; usage: ${host.commands.get('sessions')?.usage}`);
    return exitCodes.usage;
  }
  const instructions = words.join(' ');
  const report = await host.ask<CompactReport>('sessions.compact', { sessionKey, ...(instructions && { instructions }) });
  console.log(values.json ? JSON.stringify(report) : plain(report.text));
  return 0;
};

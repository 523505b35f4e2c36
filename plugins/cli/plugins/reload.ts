import { parseArgs } from 'node:util';
import { KernelError } from '../../../kernel/index.ts';
import type { Reloaded } from '../../plugins-admin/contract.ts';
import type { RunCommand } from '../contract.ts';
import { errorLine, exitCodes } from '../exit.ts';
import { findGateway } from '../reach.ts';
import { oneName } from './one-name.ts';

/** `instar plugins reload [NAME]`: reads this plugin (else all users' plugins) and the config anew, in the running gateway. */
export const run: RunCommand = async (argv, host) => {
  const { positionals } = parseArgs({ args: [...argv], allowPositionals: true });
  const name = positionals.length ? oneName(positionals) : undefined;
  const found = await findGateway(host);
  if (!found)
    throw new KernelError('CLI_NOT_RUNNING', `no gateway runs on ${host.home}, so nothing is to be reloaded; a start reads all anew`);
  const { client } = found;
  const swap = await client.call<Reloaded>('plugins.reload', { ...(name !== undefined && { name }) }).finally(() => client.close());
  console.log(changes(swap, name));
  const out = swap.leftOut.filter(({ plugin }) => name === undefined || plugin === name);
  for (const { plugin, code, why } of out) console.error(errorLine({ code, message: `${plugin} is left out: ${why}` }));
  return name !== undefined && out.length ? exitCodes.failed : 0;
};

/** What a swap changed, in one line. */
function changes({ generation, built, removed, ms }: Reloaded, name = 'every plugin'): string {
  const parts = [...built.map(({ plugin, why }) => `${plugin} (${why})`), ...removed.map((plugin) => `${plugin} (removed)`)];
  return `generation ${generation}, ${Math.round(ms)} ms: ${parts.join(', ') || `${name} is as it was`}`;
}

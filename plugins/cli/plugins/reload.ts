import { parseArgs } from 'node:util';
import { isCoded, KernelError } from '../../../kernel/index.ts';
import type { PluginDetail, Reloaded } from '../../plugins-admin/contract.ts';
import type { Client } from '../client.ts';
import { type CommandHost, exitCodes, misused, type RunCommand } from '../contract.ts';
import { errorLine } from '../exit.ts';
import { change, findGateway } from '../reach.ts';
import { oneName } from './one-name.ts';

/**
 * `instar plugins reload [NAME [--hard]]`: reads this plugin (else all users' plugins) and the config anew, in the running
 * gateway. `--hard` also closes what the plugin leases, a socket say, and has it made anew by the code as it is now.
 */
export const run: RunCommand = async (argv, host) => {
  const { values, positionals } = parseArgs({ args: [...argv], options: { hard: { type: 'boolean' } }, allowPositionals: true });
  if (values.hard && positionals.length === 0) throw misused('a hard reload is of one plugin: name it');
  const name = positionals.length ? oneName(positionals) : undefined;
  const found = await findGateway(host);
  if (!found)
    throw new KernelError('CLI_NOT_RUNNING', `no gateway runs on ${host.home}, so nothing is to be reloaded; a start reads all anew`);
  const { client } = found;
  const params = { ...(name !== undefined && { name }), ...(values.hard && { hard: true }) };
  const instance = async (to = client) => (await to.call<PluginDetail>('plugins.inspect', { name })).live?.instance;
  const before = values.hard ? await instance() : undefined; // a name that nobody has ends here
  if (values.hard) console.error(`hard reload of ${name}: what it leases is closed and made anew; until then it answers nobody`);
  const swap = await client.call<Reloaded>('plugins.reload', params).catch((error: unknown) => {
    if (before === undefined || !isCoded(error) || error.code !== 'CLI_LOST') throw error;
  });
  client.close();
  if (!swap) return afterGap(host, async (to) => (await instance(to)) !== before);
  console.log(changes(swap, name));
  const out = swap.leftOut.filter(({ plugin }) => name === undefined || plugin === name);
  for (const { plugin, code, why } of out) console.error(errorLine({ code, message: `${plugin} is left out: ${why}` }));
  return name !== undefined && out.length ? exitCodes.failed : 0;
};

/** The connection of this very command was part of the gap: whoever answers next tells what came of it. */
async function afterGap(host: CommandHost, isAnew: (client: Client) => Promise<boolean>): Promise<number> {
  for (let tries = 0; ; tries++) {
    using changed = change(host.home);
    const found = await findGateway(host).catch((error: unknown) => {
      if (tries > 40) throw error;
    });
    if (found) {
      const done = await isAnew(found.client).finally(() => found.client.close());
      console.log(
        done ? 'made anew; the connection of this command was part of the gap' : 'rejected, and as it was; "instar logs" says why',
      );
      return done ? 0 : exitCodes.failed;
    }
    await changed.settled;
  }
}

/** What a swap changed, in one line. */
function changes({ generation, built, removed, ms }: Reloaded, name = 'every plugin'): string {
  const parts = [...built.map(({ plugin, why }) => `${plugin} (${why})`), ...removed.map((plugin) => `${plugin} (removed)`)];
  return `generation ${generation}, ${Math.round(ms)} ms: ${parts.join(', ') || `${name} is as it was`}`;
}

import { parseArgs } from 'node:util';
import { KernelError, nearest } from '../../../kernel/index.ts';
import type { PluginList } from '../../plugins-admin/contract.ts';
import { swapIn } from '../config/change.ts';
import { difference } from '../config/difference.ts';
import { openConfig } from '../config/opened.ts';
import { planSet } from '../config/plan.ts';
import { exitCodes, type CommandHost } from '../contract.ts';
import { errorLine } from '../exit.ts';
import { reach } from '../reach.ts';
import { switchedOff } from './list.ts';
import { oneName } from './one-name.ts';

/** Sets `plugins.entries.NAME.enabled` in the config's text. Where a gateway runs the change is live at the end, or taken back. */
export async function switchPlugin(argv: readonly string[], host: CommandHost, enabled: boolean): Promise<number> {
  const { positionals } = parseArgs({ args: [...argv], allowPositionals: true });
  const name = oneName(positionals);
  const { client, leave } = await reach(host);
  try {
    const list = await client.call<PluginList>('plugins.list');
    const off = await switchedOff(host);
    refuse(name, list, off, enabled);
    if (off.includes(name) !== enabled) {
      console.log(`${name} is switched ${enabled ? 'on' : 'off'} already`);
      return 0;
    }
    await writeSwitch(name, host, enabled, async () => void (await client.call('plugins.reload')));
    return tell(name, await client.call<PluginList>('plugins.list'), enabled);
  } finally {
    await leave();
  }
}

/** The gateway says what became of it: one that runs on another text does not follow. */
function tell(name: string, { generation, live, leftOut }: PluginList, enabled: boolean): number {
  const isLive = live.some(({ plugin }) => plugin === name);
  const out = leftOut.find(({ plugin }) => plugin === name);
  if (out) console.error(errorLine({ code: out.code, message: `${name} is left out: ${out.why}` }));
  else if (isLive === enabled) console.log(`${name} is ${enabled ? 'live' : 'off'} in generation ${generation}`);
  else console.log('it takes effect at the next start');
  return out ? exitCodes.failed : 0;
}

function refuse(name: string, { live, leftOut }: PluginList, off: readonly string[], enabled: boolean) {
  const names = [...live, ...leftOut].map(({ plugin }) => plugin).concat(off);
  if (!names.includes(name)) {
    const near = nearest(name, names);
    throw new KernelError(
      'PLUGIN_UNKNOWN',
      `there is no plugin "${name}"; ${near ? `did you mean "${near}"?` : '"instar plugins list" shows them'}`,
    );
  }
  if (name === 'plugins-admin') throw new KernelError('PLUGIN_REQUIRED', `this command works through plugin "${name}"; switch it by hand`);
  if (enabled || !live.some(({ plugin, required }) => plugin === name && required)) return;
  throw new KernelError('PLUGIN_REQUIRED', `plugin "${name}" is required: the gateway cannot run without it`);
}

/** The one edit of a config's text there is; here the plugins' own reload makes it live, which tells what a plugin became. */
async function writeSwitch(name: string, host: CommandHost, enabled: boolean, reload: () => Promise<void>) {
  const { tree, history, change } = openConfig(host);
  const steps = ['plugins', 'entries', name, 'enabled'].map((key) => ({ key, isBare: false }));
  const planned = change(planSet(tree, steps, enabled), `plugins ${enabled ? 'enable' : 'disable'} ${name}`);
  console.log(await difference(planned.file, planned.before ?? '', planned.after ?? ''));
  await swapIn(planned, reload);
  history.record(planned);
}

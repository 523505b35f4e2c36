import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { KernelError } from '../../../kernel/index.ts';
import type { Reloaded } from '../../plugins-admin/contract.ts';
import type { CommandHost, RunCommand } from '../contract.ts';
import { findGateway } from '../reach.ts';
import { driftOf } from './drift.ts';
import { lockPlugin, readPluginLock } from './lock.ts';
import { oneName } from './one-name.ts';

/** `instar plugins uninstall NAME`: takes away what `install` brought, and nothing else. */
export const run: RunCommand = async (argv, host) => {
  const options = { force: { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
  const name = oneName(positionals);
  const entry = readPluginLock(host.home).find((one) => one.name === name);
  if (!entry) {
    throw new KernelError('PLUGIN_NOT_INSTALLED', `"${name}" was not installed by "plugins install"; remove one of your own by hand`);
  }
  if (!values.force) await refuse(name, driftOf(entry, host.home), host);
  await takeAway(name, host.home);
  lockPlugin(host.home, name, undefined);
  console.log(`uninstalled ${name}`);
  await reload(host);
  return 0;
};

async function refuse(name: string, drift: string | undefined, { home, configFile, env, readConfig }: CommandHost) {
  const folder = join(home, 'plugins', name);
  if (drift !== undefined && existsSync(folder)) {
    throw new KernelError('PLUGIN_CHANGED', `${drift}; keep what is yours, then add --force`);
  }
  const { values } = await readConfig(configFile, env);
  const { entries = {} } = (values['plugins'] ?? {}) as { readonly entries?: object };
  if (!Object.hasOwn(entries, name)) return;
  const what = `the config still has plugins.entries.${name}, which is a fault once the plugin is gone`;
  throw new KernelError('PLUGIN_CONFIGURED', `${what}; take it out, or add --force and take it out then`);
}

/** Out of sight by one rename, then removed. */
async function takeAway(name: string, home: string) {
  const folder = join(home, 'plugins', name);
  const away = await mkdtemp(join(home, '.uninstall-plugin-'));
  if (existsSync(folder)) await rename(folder, join(away, name));
  await rm(away, { recursive: true, force: true });
}

async function reload(host: CommandHost) {
  const found = await findGateway(host);
  if (!found) return;
  const { client } = found;
  const { generation } = await client.call<Reloaded>('plugins.reload').finally(() => client.close());
  console.log(`it is gone in generation ${generation}`);
}

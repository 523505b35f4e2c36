import { parseArgs } from 'node:util';
import { messageOf } from '../../../kernel/index.ts';
import type { LivePlugin, PluginDetail } from '../../plugins-admin/contract.ts';
import type { CommandHost, RunCommand } from '../contract.ts';
import { exitCodes } from '../exit.ts';
import { bold, columns, dim, oneLine } from '../terminal.ts';
import { type Setting, settingsAt } from './settings.ts';
import { oneName } from './one-name.ts';

/** `instar plugins inspect NAME`: all that is known of one plugin. */
export const run: RunCommand = async (argv, host) => {
  const { values, positionals } = parseArgs({ args: [...argv], options: { json: { type: 'boolean' } }, allowPositionals: true });
  const name = oneName(positionals);
  const detail = await host.ask<PluginDetail>('plugins.inspect', { name });
  const config = await configOf(detail, host).catch((error: unknown) => {
    console.error(`instar: ${oneLine(messageOf(error), 400)}`); // the gateway runs on, whatever the file has become
    return [];
  });
  if (values.json) console.log(JSON.stringify({ ...detail, config }));
  else console.log(detail.live ? show(detail.live, detail.generation, config) : `${bold(name)} is left out`);
  if (detail.leftOut) console.error(`instar: ${detail.leftOut.code}: ${oneLine(detail.leftOut.why, 400)}`);
  return detail.leftOut ? exitCodes.failed : 0;
};

async function configOf({ live }: PluginDetail, { configFile, env, readConfig }: CommandHost): Promise<readonly Setting[]> {
  return live?.configAt ? settingsAt(live.configAt, await readConfig(configFile, env)) : [];
}

function show(live: LivePlugin, generation: number, config: readonly Setting[]): string {
  const { plugin, description, instance, since, setupMs, source, needs, provides, hooks, leases, configAt } = live;
  const listed = (items: readonly string[]) => items.join(', ') || 'none';
  const facts = columns([
    { label: 'state', value: `live in generation ${generation}, since generation ${since}, as instance ${instance}` },
    { label: 'source', value: source },
    { label: 'setup', value: `${setupMs.toFixed(1)} ms` },
    { label: 'needs', value: listed(needs) },
    { label: 'services', value: listed(provides) },
    { label: 'hooks', value: listed(hooks.map(({ hook, stage }) => (stage ? `${hook} (stage ${stage})` : hook))) },
    { label: 'leases', value: listed(leases) },
    { label: 'config', value: configText(configAt, config) },
  ]);
  return `${bold(plugin)} ${dim(oneLine(description))}\n${facts}\n${columns(config.map(row))}`.trimEnd();
}

const configText = (at: string | undefined, { length }: readonly Setting[]) =>
  at ? `${at}${length ? '' : ' (not set: everything has its default)'}` : 'none';

const row = ({ path, value, place }: Setting) => ({ label: `  ${path}`, value: `${oneLine(JSON.stringify(value))}  ${dim(place)}` });

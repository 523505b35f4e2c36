import { parseArgs } from 'node:util';
import { messageOf } from '../../../kernel/index.ts';
import { type Fault, isPresent } from '../../faults/contract.ts';
import type { LivePlugin, PluginDetail } from '../../plugins-admin/contract.ts';
import { exitCodes, type CommandHost, type RunCommand } from '../contract.ts';
import { faultText } from '../fault-lines.ts';
import { bold, columns, dim, oneLine } from '../contract/terminal.ts';
import { defaultsOf, schemaOf } from './defaults.ts';
import { oneName } from './one-name.ts';
import { type Setting, settingsAt, valueAt } from './settings.ts';

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
  else console.log(detail.live ? show(detail.live, detail, config) : `${bold(name)} is left out`);
  if (detail.leftOut) console.error(`instar: ${detail.leftOut.code}: ${oneLine(detail.leftOut.why, 400)}`);
  return detail.leftOut ? exitCodes.failed : 0;
};

async function configOf({ live }: PluginDetail, { configFile, env, readConfig }: CommandHost): Promise<readonly Setting[]> {
  if (!live?.configAt) return [];
  const [text, schema] = await Promise.all([readConfig(configFile, env), schemaOf(live)]);
  const { configAt } = live;
  return [...settingsAt(configAt, text), ...defaultsOf(schema, valueAt(configAt, text.values) ?? {}, configAt)];
}

function show(live: LivePlugin, { generation, faults }: PluginDetail, config: readonly Setting[]): string {
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
  const [present, earlier] = [true, false].map((is) => faults.filter((fault) => isPresent(fault, since) === is));
  const parts = [
    `${bold(plugin)} ${dim(oneLine(description))}`,
    facts,
    ...(config.length ? [columns(config.map(row))] : []),
    ...faultPart(bold('faults'), present),
    ...faultPart(dim('before it was last made anew'), earlier),
  ];
  return parts.join('\n');
}

const faultPart = (title: string, faults: readonly Fault[] = []) =>
  faults.length ? [`${title}\n${faults.map((fault) => `  ${faultText(fault)}`).join('\n')}`] : [];

const configText = (at: string | undefined, config: readonly Setting[]) =>
  at ? `${at}${config.every(({ isDefault }) => isDefault) ? ' (not set)' : ''}` : 'none';

const row = ({ path, value, place }: Setting) => ({ label: `  ${path}`, value: `${oneLine(JSON.stringify(value))}  ${dim(place)}` });

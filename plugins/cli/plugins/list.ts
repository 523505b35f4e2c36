import { parseArgs } from 'node:util';
import { isPresent } from '../../faults/contract.ts';
import type { PluginList } from '../../plugins-admin/contract.ts';
import type { CommandHost, RunCommand } from '../contract.ts';
import { faultCount } from '../fault-lines.ts';
import { bold, dim, oneLine } from '../contract/terminal.ts';

interface Row {
  readonly plugin: string;
  readonly state: 'live' | 'left out' | 'off';
  readonly source?: string;
  /** What it is; of one that is left out, why. */
  readonly text: string;
  /** Since it was made. */
  readonly faults?: number;
}

/** `instar plugins list`: what is live, left out or switched off. */
export const run: RunCommand = async (argv, host) => {
  const { values } = parseArgs({ args: [...argv], options: { json: { type: 'boolean' } } });
  const list = await host.ask<PluginList>('plugins.list');
  const rows = await rowsOf(list, host);
  if (values.json) console.log(JSON.stringify({ generation: list.generation, plugins: rows }));
  else console.log(`${dim(`generation ${list.generation}`)}\n${table(rows)}`);
  if (!values.json && rows.some(({ faults }) => faults)) console.log(dim('"instar plugins inspect NAME" shows the faults'));
  return 0;
};

async function rowsOf({ live, leftOut, faults }: PluginList, host: CommandHost): Promise<readonly Row[]> {
  const rows: Row[] = [
    ...live.map(({ plugin, source, description, since }) => {
      const own = faults.filter((fault) => fault.plugin === plugin && isPresent(fault, since)).length;
      return { plugin, state: 'live', source, text: description, ...(own && { faults: own }) } as const;
    }),
    ...leftOut.map(({ plugin, code, why }) => ({ plugin, state: 'left out', text: `${code}: ${why}` }) as const),
  ];
  const known = await switchedOff(host).catch(() => []); // the gateway runs on, whatever the file has become
  const off = known.filter((name) => !rows.some(({ plugin }) => plugin === name));
  const text = 'plugins.entries says so; "instar plugins enable" changes that';
  return [...rows, ...off.map((plugin) => ({ plugin, state: 'off', text }) as const)].toSorted((a, b) => (a.plugin < b.plugin ? -1 : 1));
}

/** By the config's text: what is off is part of no generation. */
export async function switchedOff({ configFile, env, readConfig }: CommandHost): Promise<readonly string[]> {
  const { values } = await readConfig(configFile, env);
  const { entries = {} } = (values.plugins ?? {}) as { entries?: Readonly<Record<string, { readonly enabled?: boolean }>> };
  return Object.keys(entries).filter((name) => entries[name]?.enabled === false);
}

function table(rows: readonly Row[]): string {
  const width = Math.max(0, ...rows.map(({ plugin }) => plugin.length));
  const line = ({ plugin, state, source, text, faults = 0 }: Row) => {
    const from = source && source !== 'bundled' ? dim(` (${source})`) : '';
    const shown = state === 'live' ? state.padEnd(8) : bold(state.padEnd(8));
    return `  ${plugin.padEnd(width)}  ${shown}  ${oneLine(text, state === 'live' ? 100 : 300)}${from}${faults ? bold(`  ${faultCount(faults)}`) : ''}`;
  };
  return rows.map(line).join('\n');
}

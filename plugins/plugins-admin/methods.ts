import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Host, isCoded, messageOf, nearest, type Run } from '../../kernel/index.ts';
import { Faults } from '../faults/contract.ts';
import { type Method, refusal } from '../gateway/contract.ts';
import type { PluginDetail, PluginList, Reloaded } from './contract.ts';

type Params = Parameters<Method>[0];

const ours = join(import.meta.dirname, '..');

/** Why the last change is not live; undefined where it is. */
export interface Rejection {
  why: string | undefined;
}

export const pluginMethods = (last: Readonly<Rejection>): Readonly<Record<string, Method>> => ({
  'plugins.list': list,
  'plugins.inspect': (params, _client, run) => inspect(params, run, last),
  'plugins.reload': (params, _client, run) => reload(params, run, last),
});

const list = (_params: Params, _client: unknown, run: Run): PluginList => {
  const { generation, instances: live, leftOut, retiring } = run.get(Host).inspect();
  return { generation, live, leftOut, retiring, faults: faultsOf(run) };
};

const inspect = (params: Params, run: Run, last: Rejection): PluginDetail => {
  const name = nameIn(params);
  if (name === undefined) throw refusal(400, 'PLUGIN_PARAMS', '"name" is missing');
  return { ...detailOf(name, run.get(Host), last), faults: faultsOf(run).filter(({ plugin }) => plugin === name) };
};

const faultsOf = (run: Run) => run.find(Faults)?.list() ?? [];

/** The call outlives its own generation: what it answers is of the one that is live now. */
async function reload(params: Params, run: Run, last: Rejection): Promise<Reloaded> {
  const name = nameIn(params);
  const host = run.get(Host);
  const source = host.inspect().instances.find(({ plugin }) => plugin === name)?.source;
  // One file of a plugin stands for all; a plugin's folder has its name, unless it is a package.
  if (params.hard === true && name === undefined) throw refusal(400, 'PLUGIN_PARAMS', 'a hard reload is of one plugin: "name" is missing');
  const isWanted = (file: string) =>
    name === undefined ? !file.startsWith(`${ours}/`) : file === source || basename(dirname(file)) === name;
  try {
    const swap = await host.reload(host.sources().plugins.filter(isWanted), params.hard === true && name !== undefined ? [name] : []);
    if (name !== undefined) detailOf(name, host, last);
    return swap;
  } catch (error) {
    if (isCoded(error) && 'status' in error) throw error;
    // A fault in what a person wrote: it is told as it is, and counts as no failure of ours.
    throw refusal(409, isCoded(error) ? error.code : 'RELOAD_FAILED', messageOf(error));
  }
}

function detailOf(name: string, host: Host, { why }: Rejection): Omit<PluginDetail, 'faults'> {
  const { generation, instances, leftOut: out } = host.inspect();
  const live = instances.find(({ plugin }) => plugin === name);
  const leftOut = out.find(({ plugin }) => plugin === name);
  if (live || leftOut) return { generation, ...(live && { live }), ...(leftOut && { leftOut }) };
  if (why !== undefined && isOnDisk(name, host))
    throw refusal(409, 'PLUGIN_WAITS', `plugin "${name}" is on disk, but the last change was rejected: ${why}; mend that first`);
  const near = nearest(
    name,
    [...instances, ...out].map(({ plugin }) => plugin),
  );
  const cure = near ? `did you mean "${near}"?` : '"instar plugins list" shows them';
  throw refusal(404, 'PLUGIN_UNKNOWN', `there is no plugin "${name}", or it is switched off; ${cure}`);
}

/** In a folder of plugins, or named itself in `plugins.paths`. */
const isOnDisk = (name: string, host: Host) => host.sources().roots.some((root) => basename(root) === name || existsSync(join(root, name)));

function nameIn({ name }: Params): string | undefined {
  if (name === undefined || name === null) return undefined;
  if (typeof name === 'string' && name.length <= 200) return name;
  throw refusal(400, 'PLUGIN_PARAMS', '"name" must be the name of a plugin');
}

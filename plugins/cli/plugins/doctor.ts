import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf, type Plugin } from '../../../kernel/index.ts';
import type { LivePlugin, PluginList } from '../../plugins-admin/contract.ts';
import { bundle } from '../bundle.ts';
import { withUsers } from '../commands.ts';
import { exitCodes, type CommandHost, type RunCommand } from '../contract.ts';
import { bold, dim, oneLine } from '../contract/terminal.ts';
import { driftOf } from './drift.ts';
import { readPluginLock } from './lock.ts';

interface Finding {
  readonly state: 'ok' | 'warn' | 'fail';
  readonly plugin: string;
  /** What was found, and what to do where it is not well. */
  readonly text: string;
}

const slowMs = 1000;

/** `instar plugins doctor`: what of the plugins fails, and what would at the next reload; exits with 1 where something does. */
export const run: RunCommand = async (argv, host) => {
  const { values } = parseArgs({ args: [...argv], options: { json: { type: 'boolean' } } });
  const list = await host.ask<PluginList>('plugins.list');
  const findings = [
    ...(await configFaults(host)),
    ...liveness(list),
    ...(await onDisk(list)),
    ...noPlugins(host),
    ...drifted(host),
    ...(await commandsLeftOut(host)),
  ];
  if (values.json) console.log(JSON.stringify(findings));
  else for (const finding of findings) console.log(line(finding));
  return findings.some(({ state }) => state === 'fail') ? exitCodes.failed : 0;
};

const line = ({ state, plugin, text }: Finding) =>
  `${state === 'ok' ? dim(state.padEnd(4)) : bold(state.padEnd(4))}  ${plugin.padEnd(16)}  ${oneLine(text, 400)}`;

async function commandsLeftOut(host: CommandHost): Promise<readonly Finding[]> {
  const { warnings } = await withUsers(host.commands, host);
  return warnings.map((text) => ({ state: 'warn', plugin: 'commands', text }));
}

/** The gateway may run on an older text than the file has now. */
async function configFaults({ configFile, env, readConfig }: CommandHost): Promise<readonly Finding[]> {
  try {
    const { problems, place } = await readConfig(configFile, env);
    return problems.map(({ path, message }) => ({ state: 'fail', plugin: 'config', text: `${place(path)} ${path}: ${message}` }));
  } catch (error) {
    return [{ state: 'fail', plugin: 'config', text: messageOf(error) }];
  }
}

function liveness({ generation, live, leftOut, retiring }: PluginList): readonly Finding[] {
  const slow = live.filter(({ setupMs }) => setupMs > slowMs);
  const old = retiring.map(({ generation: id, runs }) => `generation ${id} waits for ${runs} runs to end`);
  return [
    { state: 'ok', plugin: 'all', text: `${live.length} are live in generation ${generation}` },
    ...leftOut.map(({ plugin, code, why }) => ({ state: 'fail', plugin, text: `is left out: ${code}: ${why}` }) as const),
    ...slow.map(({ plugin, setupMs }) => {
      const text = `its setup took ${Math.round(setupMs)} ms, and each reload waits for that; move what waits into onLive`;
      return { state: 'warn', plugin, text } as const;
    }),
    ...old.map((text) => ({ state: 'warn', plugin: 'all', text: `${text}; until then its plugins stay in memory` }) as const),
  ];
}

/** Users' plugins as their files are now: what is live may be older than a save that was rejected. */
async function onDisk({ live }: PluginList): Promise<readonly Finding[]> {
  const mine = live.filter(({ source }) => source !== 'bundled');
  const checked = await Promise.all(mine.map(async (one) => [...(await built(one)), ...untested(one)]));
  return checked.flat();
}

async function built({ plugin, source }: LivePlugin): Promise<readonly Finding[]> {
  try {
    const { name } = ((await bundle(source)).value ?? {}) as Partial<Plugin>;
    if (name === plugin) return [{ state: 'ok', plugin, text: source }];
    return [
      { state: 'fail', plugin, text: `${source} now exports ${name ? `"${name}"` : 'no plugin'}: the next reload would be rejected` },
    ];
  } catch (error) {
    return [{ state: 'fail', plugin, text: `the next reload would be rejected: ${messageOf(error)}` }];
  }
}

function untested({ plugin, source }: LivePlugin): readonly Finding[] {
  const hasTest = readdirSync(dirname(source)).some((file) => /\.test\.[jt]s$/.test(file));
  return hasTest ? [] : [{ state: 'warn', plugin, text: `has no test; "instar plugins new" shows what one looks like` }];
}

/** Folders among the users' plugins that hold none. */
function noPlugins({ home }: CommandHost): readonly Finding[] {
  const root = join(home, 'plugins');
  const folders = existsSync(root) ? readdirSync(root).map((name) => join(root, name)) : [];
  const isPlugin = (folder: string) => ['index.ts', 'index.js'].some((file) => existsSync(join(folder, file)));
  const empty = folders.filter((folder) => statSync(folder, { throwIfNoEntry: false })?.isDirectory() && !isPlugin(folder));
  return empty.map((folder) => ({ state: 'warn', plugin: basename(folder), text: `${folder} has no index.ts, so it is no plugin` }));
}

/** Installed plugins that are not what was confirmed. */
function drifted({ home }: CommandHost): readonly Finding[] {
  try {
    return readPluginLock(home).flatMap((entry) => {
      const text = driftOf(entry, home);
      return text === undefined ? [] : [{ state: 'warn', plugin: entry.name, text } as const];
    });
  } catch (error) {
    return [{ state: 'fail', plugin: 'lock', text: messageOf(error) }];
  }
}

import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { messageOf } from '../../kernel/index.ts';
import type { CommandHost } from './contract.ts';

interface Plugins {
  readonly paths?: readonly unknown[];
  readonly packages?: readonly unknown[];
  readonly entries?: Readonly<Record<string, { readonly enabled?: unknown } | undefined>>;
}

interface Folder {
  readonly plugin: string;
  readonly folder: string;
}

type Facts = Pick<CommandHost, 'home' | 'env' | 'configFile' | 'readConfig'>;

/**
 * Folders of the user's plugins that are not switched off, in the places where a start finds them (kernel/host/discovery.ts),
 * which judges them. Here nothing fails: `problem` is why the config could not be asked.
 */
export async function userFolders({ home, env, configFile, readConfig }: Facts) {
  const { values, problem } = await readConfig(configFile, env).then(
    (read) => ({ values: read.values, problem: undefined }),
    (cause: unknown) => ({ values: {}, problem: messageOf(cause) }),
  );
  const { paths = [], packages = [], entries = {} } = ((values as { plugins?: unknown }).plugins ?? {}) as Plugins;
  const base = configFile ? dirname(configFile) : home;
  const roots = listOf(paths).map((path) => resolve(base, path.replace(/^~(?=\/|$)/, homedir())));
  const named = roots.flatMap((root) => (isPlugin(root) ? [root] : pluginsIn(root)));
  const own = [...pluginsIn(join(home, 'plugins')), ...named].map((folder) => ({ plugin: basename(folder), folder }));
  const found = [...own, ...listOf(packages).flatMap((name) => packaged(name, base))];
  const isFirst = ({ folder }: Folder, i: number) => found.findIndex((one) => one.folder === folder) === i;
  return { folders: found.filter((one, i) => isFirst(one, i) && entries[one.plugin]?.enabled !== false), problem };
}

const listOf = (value: unknown) => (Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []);

const isPlugin = (folder: string) => ['index.ts', 'index.js'].some((entry) => existsSync(join(folder, entry)));

function pluginsIn(root: string): readonly string[] {
  try {
    return readdirSync(root)
      .toSorted()
      .map((name) => join(root, name))
      .filter(isPlugin);
  } catch {
    return []; // not there, or no folder: a start says so
  }
}

function packaged(name: string, base: string): readonly Folder[] {
  try {
    const entry = createRequire(join(base, 'instar.json5')).resolve(name);
    return [{ plugin: name.replace(/^(@[^/]+\/)?(instar-plugin-)?/, ''), folder: dirname(entry) }];
  } catch {
    return []; // not installed: a start says so
  }
}

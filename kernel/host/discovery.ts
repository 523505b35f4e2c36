import { existsSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { messageOf } from '../error.ts';
import { nearest } from './nearest.ts';
import type { Values } from '../kernel.ts';
import { joinKey } from './contract.ts';
import { type Problem, validate } from './schema.ts';

/** A plugin as it lies on disk, not yet loaded: its name is that of its folder or package. */
export interface Found {
  readonly name: string;
  /** The file that exports it. */
  readonly entry: string;
  readonly bundled: boolean;
  readonly enabled: boolean;
}

const strings = { type: 'array', items: { type: 'string', minLength: 1 } } as const;
const entry = { type: 'object', additionalProperties: false, properties: { enabled: { type: 'boolean' }, config: {} } };

/** The part of the config that decides which plugins run. */
export const pluginsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    paths: { ...strings, description: 'Plugin folders, or folders of them; relative to the config file' },
    packages: { ...strings, description: 'npm packages that are plugins, installed beside the config file' },
    entries: { type: 'object', additionalProperties: entry, description: 'By plugin name' },
  },
};

interface Plugins {
  readonly paths?: readonly string[];
  readonly packages?: readonly string[];
  readonly entries?: Readonly<Record<string, { readonly enabled?: boolean }>>;
}

/** Our own plugins: sources in a clone, JavaScript in a package. */
export const bundledRoot = join(import.meta.dirname, '../../plugins');

/** Finds plugins and imports none. `base` is the folder of the config file; `roots` is where new ones may appear. */
export function discover(config: Values, home: string, base: string, isForeign = false) {
  const problems: Problem[] = [...validate(pluginsSchema, config.plugins ?? {}, 'plugins')];
  if (problems.length) return { found: [], roots: [], problems };
  const { paths = [], packages = [], entries = {} } = (config.plugins ?? {}) as Plugins;
  const found = new Map<string, Found>();
  const add = (file: string, path: string, name = basename(dirname(file))) => {
    const same = found.get(name)?.entry;
    if (same === file) return;
    const clash = `plugin "${name}" is in ${same} and in ${file}; remove or rename one`;
    const odd = `"${name}" (${file}) is no plugin name: a-z first, then a-z, 0-9 and -`;
    if (same || !/^[a-z][a-z0-9-]{0,63}$/.test(name)) problems.push({ path, message: same ? clash : odd });
    else found.set(name, { name, entry: file, bundled: path === '', enabled: entries[name]?.enabled !== false });
  };
  const roots = [join(home, 'plugins'), ...paths.map((path) => resolve(base, path.replace(/^~(?=\/|$)/, homedir())))];
  for (const file of pluginsIn(bundledRoot)) add(file, '');
  for (const [i, root] of roots.entries()) {
    const path = i ? `plugins.paths[${i - 1}]` : 'plugins';
    const files = i && entryOf(root) ? [entryOf(root) ?? ''] : pluginsIn(root);
    if (i && !files.length) problems.push({ path, message: `no folder with index.ts or index.js is at ${root}` });
    for (const file of files) add(file, path);
  }
  for (const [i, name] of packages.entries()) {
    const path = `plugins.packages[${i}]`;
    try {
      const file = createRequire(join(base, 'instar.json5')).resolve(name);
      add(file, path, name.replace(/^(@[^/]+\/)?(instar-plugin-)?/, ''));
    } catch (cause) {
      const [why] = messageOf(cause).split('\n');
      problems.push({ path, message: `${why}; run "npm install ${name}" in ${base}` });
    }
  }
  for (const name of Object.keys(entries).filter((one) => !isForeign && !found.has(one))) {
    const path = joinKey('plugins.entries', name);
    problems.push({ path, message: `there is no plugin "${name}"`, nearest: nearest(name, found.keys()) });
  }
  return { found: [...found.values()], roots, problems };
}

const entryOf = (folder: string) => ['index.ts', 'index.js'].map((file) => join(folder, file)).find((file) => existsSync(file));

function pluginsIn(folder: string): string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  const names = readdirSync(folder).toSorted();
  return names.flatMap((name) => entryOf(join(folder, name)) ?? []);
}

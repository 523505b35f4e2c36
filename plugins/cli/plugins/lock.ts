import { join } from 'node:path';
import { KernelError } from '../../../kernel/index.ts';
import { readText, replaceText } from '../config/files.ts';

/** What was confirmed when a plugin was installed. */
export interface Installed {
  readonly name: string;
  /** The folder, tarball or package as it was asked for. */
  readonly source: string;
  readonly version: string;
  readonly integrity: string;
  /** ISO time. */
  readonly installedAt: string;
}

/** Beside the plugins, not among them. */
export const lockFile = (home: string) => join(home, 'plugins.lock.json');

export const readPluginLock = (home: string): readonly Installed[] => parse(lockFile(home), readText(lockFile(home)));

/** Puts an entry in place of the one of that name; `undefined` takes it out. */
export function lockPlugin(home: string, name: string, entry: Installed | undefined) {
  const file = lockFile(home);
  const before = readText(file);
  const others = parse(file, before).filter((one) => one.name !== name);
  const plugins = [...others, ...(entry ? [entry] : [])].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  replaceText(file, before, `${JSON.stringify({ lockVersion: 1, plugins }, null, 2)}\n`);
}

function parse(file: string, text: string | undefined): readonly Installed[] {
  if (text === undefined) return [];
  try {
    const { lockVersion, plugins } = JSON.parse(text) as { lockVersion?: unknown; plugins?: unknown };
    if (lockVersion === 1 && Array.isArray(plugins) && plugins.every(isEntry)) return plugins;
  } catch {
    // Told below: no JSON is as little a lock as another form.
  }
  throw new KernelError('PLUGIN_LOCK', `${file} is no lock that this version reads; put it back as it was, or remove it`);
}

function isEntry(value: unknown): value is Installed {
  const entry = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isText = ['source', 'version', 'integrity', 'installedAt'].every((key) => typeof entry[key] === 'string');
  return isText && typeof entry['name'] === 'string' && isPluginName(entry['name']);
}

export const isPluginName = (name: string) => /^[a-z][a-z0-9-]{0,63}$/.test(name);

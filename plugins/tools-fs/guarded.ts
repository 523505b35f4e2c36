import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Host, type Run } from '../../kernel/index.ts';
import { type Guarded, GuardedFiles, isUnder } from './contract.ts';

/** Of this moment, as real paths, with the links on the way to them: a reload may bring files and plugins. */
export async function guardedOf(run: Run): Promise<Guarded> {
  const usual = guardedBy(run.get(Host));
  const { closed, fixed, programs } = await run.call(GuardedFiles, { closed: [], fixed: [], programs: [] });
  const started = programs.flatMap(({ command, args, cwd }) => programFiles(command, args, cwd));
  return {
    closed: [...usual.closed, ...closed.flatMap((path) => waysTo(path))],
    fixed: [...usual.fixed, ...[...fixed, ...started].flatMap((path) => waysTo(path))],
  };
}

/** Files that a program is started with: it itself by a path, and those that its arguments name. Folders are its data. */
export function programFiles(command: string, args: readonly string[], cwd: string): readonly string[] {
  const named = args.flatMap((arg) => [arg, arg.slice(arg.indexOf('=') + 1)]).map((arg) => resolve(cwd, arg));
  return [...(command.includes('/') ? [resolve(cwd, command)] : []), ...new Set(named.filter(isFile))];
}

/** Looking is slow, and done anew after a while: the owner may have made a link since. */
const freshMs = 5000;
let known: { readonly key: string; readonly until: number; readonly guarded: Guarded } | undefined;

/** By the config and the plugins that are live. */
function guardedBy(host: Host): Guarded {
  const sources = host.sources();
  const key = JSON.stringify([host.home, host.configFile, sources]);
  if (known?.key !== key || known.until < performance.now())
    known = { key, until: performance.now() + freshMs, guarded: look(host.home, host.configFile, sources) };
  return known.guarded;
}

const bundled = join(import.meta.dirname, '..');
/** A reload of one of our plugins takes what lies beside it. */
const ours = [bundled, join(bundled, '../kernel')];

/** The folder of each file that a plugin is made of, for a new file may win over an old one; and what imports in there lead to. */
function look(home: string, configFile: string | undefined, { config, roots, plugins }: ReturnType<Host['sources']>): Guarded {
  const files = new Set([...(configFile === undefined ? [] : [configFile]), ...config]);
  const folders = new Set(plugins.filter((path) => !isUnder(bundled, path)).map(dirname));
  // Packages are found from the config, by links perhaps.
  const installed = behind([...files].map(dirname));
  const isUsed = [...folders].some((folder) => installed.some((one) => isUnder(one, realOf(folder))));
  const code = [...ours, ...folders];
  const decided = [...new Set([...roots, ...code, ...code.flatMap(packagesOf)])].flatMap((path) => waysTo(path));
  return {
    closed: [...new Set([home, ...files].flatMap((path) => waysTo(path)))],
    fixed: [...new Set([...decided, ...behind(code), ...(isUsed ? installed : [])])],
  };
}

/** Each `node_modules` in which imports of these folders are looked for, and what links in it lead to, with what is imported from there. */
function behind(folders: readonly string[]): readonly string[] {
  const [queue, seen, found] = [new Set(folders), new Set<string>(), new Set<string>()];
  for (const folder of queue) {
    const places = [...above(folder), ...above(realOf(folder))].map((at) => join(at, 'node_modules'));
    for (const modules of places.filter((one) => !seen.has(one))) {
      seen.add(modules);
      const ways = [modules, ...linksIn(modules)].flatMap((path) => waysTo(path));
      for (const one of ways.filter((way) => !isUnder(modules, way))) {
        queue.add(one);
        found.add(one);
      }
      found.add(modules);
    }
  }
  return [...found];
}

function linksIn(modules: string): readonly string[] {
  return entriesIn(modules).flatMap((entry) => {
    const path = join(modules, entry.name);
    const inner = entry.name.startsWith('@') ? entriesIn(path).filter((one) => one.isSymbolicLink()) : [];
    return [...(entry.isSymbolicLink() ? [path] : []), ...inner.map(({ name }) => join(path, name))];
  });
}

function entriesIn(folder: string) {
  if (!existsSync(folder)) return [];
  try {
    return readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.startsWith('.')); // nothing is imported by such a name
  } catch {
    return []; // no folder
  }
}

/** The `package.json` that says how imports of a folder are read, and where a nearer one would be. */
function packagesOf(folder: string): readonly string[] {
  const files = above(folder).map((at) => join(at, 'package.json'));
  const nearest = files.findIndex((file) => existsSync(file));
  return files.slice(0, nearest < 0 ? files.length : nearest + 1);
}

/** A folder and those it lies in, from the inside. */
function above(folder: string): readonly string[] {
  return dirname(folder) === folder ? [folder] : [folder, ...above(dirname(folder))];
}

/** Where a path leads, and each link on the way: all of them decide. */
function waysTo(path: string, left = 40): readonly string[] {
  // A link that leads nowhere yet is one.
  const link = existsSync(path) && realOf(path) === path ? undefined : above(path).findLast(isLink);
  if (link === undefined || left === 0) return [path];
  const target = resolve(dirname(link), readlinkSync(link));
  return [link, ...waysTo(join(target, path.slice(link.length)), left - 1)];
}

/** What is not there yet is guarded where it would be. */
function realOf(path: string): string {
  if (!existsSync(path) && dirname(path) !== path) return join(realOf(dirname(path)), basename(path));
  try {
    return realpathSync.native(path);
  } catch {
    return path; // it has just gone
  }
}

/** Some paths throw: too long, or below a file. */
function statsOf(path: string, read: typeof lstatSync) {
  try {
    return read(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

const isLink = (path: string) => statsOf(path, lstatSync)?.isSymbolicLink() === true;
const isFile = (path: string) => statsOf(path, statSync)?.isFile() === true;

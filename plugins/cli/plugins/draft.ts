import { execFile } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join, posix, resolve } from 'node:path';
import { promisify } from 'node:util';
import { isCoded, KernelError } from '../../../kernel/index.ts';
import { oneLine } from '../contract/terminal.ts';

/** A plugin as it would be installed, in a folder of its own. Nothing of it has run. */
export interface Draft extends AsyncDisposable {
  readonly folder: string;
  readonly name: string;
  readonly source: string;
  readonly manifest: Manifest;
}

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly description?: string;
  readonly main?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Fetches a folder, a tarball or an npm package. The draft is gone at the end unless it was renamed. */
export async function draftOf(source: string, home: string): Promise<Draft> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  // Beside the plugins, not among them: the watcher and the discovery would take a half-written one for a plugin.
  const root = await mkdtemp(join(home, '.install-plugin-'));
  const stop = new AbortController();
  const keep = removedAtExit(root, stop);
  const gone = async () => {
    await rm(root, { recursive: true, force: true });
    keep();
  };
  try {
    const [from, folder] = await fetched(source, root, stop.signal);
    const manifest = manifestOf(folder);
    await giveEntry(folder, manifest);
    const name = basename(from === 'package' ? (manifest.name ?? '') : resolve(source)).replace(/^instar-plugin-/, '');
    const told = from === 'package' && !isTarball(source) ? source : realpathSync(source);
    return { folder, name, source: told, manifest, [Symbol.asyncDispose]: gone };
  } catch (cause) {
    await gone();
    throw cause;
  }
}

/** Ctrl-C, or a reader of our output that leaves, ends this process without any `finally`: npm ends first, then the draft goes. */
function removedAtExit(root: string, stop: AbortController): () => void {
  const remove = () => {
    stop.abort();
    rmSync(root, { recursive: true, force: true });
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const keep = () => {
    process.off('exit', remove);
    for (const signal of signals) process.off(signal, end);
  };
  const end = (signal: NodeJS.Signals) => {
    remove();
    keep();
    process.kill(process.pid, signal);
  };
  process.on('exit', remove);
  for (const signal of signals) process.on(signal, end);
  return keep;
}

const isTarball = (source: string) => /\.(tgz|tar\.gz)$/.test(source) && existsSync(source);

async function fetched(source: string, root: string, signal: AbortSignal): Promise<readonly ['folder' | 'package', string]> {
  const isFolder = statSync(source, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (isFolder) return ['folder', await copied(realpathSync(source), join(root, 'plugin'), signal)];
  if (isTarball(source)) return ['package', await unpacked(realpathSync(source), root, signal)];
  // No git, no URL, no alias: those run programs or hide where they lead.
  if (/^(@[a-z0-9~][\w.~-]*\/)?[a-z0-9~][\w.~-]*(@[\w.^~+-]+)?$/.test(source)) return ['package', await unpacked(source, root, signal)];
  throw new KernelError('PLUGIN_SOURCE', `${source} is no folder, no .tgz and no name of an npm package; nothing was installed`);
}

/** Without what is not the plugin's: its repository, installed modules, and settings that would steer our npm. */
async function copied(from: string, folder: string, signal: AbortSignal): Promise<string> {
  const entries = ['index.ts', 'index.js', 'package.json'];
  if (!entries.some((file) => existsSync(join(from, file)))) throw noEntry(from);
  const left = new Set(['node_modules', '.git', '.npmrc']);
  await cp(from, folder, { recursive: true, verbatimSymlinks: true, filter: (path) => path === from || !left.has(basename(path)) });
  if (Object.keys(manifestOf(folder).dependencies ?? {}).length > 0) await npmInstall(folder, [], signal);
  return folder;
}

/** The package with its dependencies inside it, so that one rename moves all. */
async function unpacked(spec: string, root: string, signal: AbortSignal): Promise<string> {
  await writeFile(join(root, 'package.json'), '{ "private": true }\n');
  await npmInstall(root, ['--install-strategy=nested', spec], signal);
  const [name = ''] = Object.keys(manifestOf(root).dependencies ?? {});
  const folder = join(root, 'plugin');
  await rename(join(root, 'node_modules', name), folder);
  return folder;
}

const quiet = ['--omit=dev', '--no-audit', '--no-fund', '--no-bin-links', '--install-links', '--loglevel=error'];
// A peer is what we bring; a dependency from git could run its own prepare script.
const noScripts = ['--ignore-scripts', '--allow-git=none', '--legacy-peer-deps'];

async function npmInstall(cwd: string, args: readonly string[], signal: AbortSignal) {
  try {
    await promisify(execFile)('npm', ['install', ...noScripts, ...quiet, ...args], {
      cwd,
      timeout: 300_000,
      killSignal: 'SIGKILL',
      signal,
    });
  } catch (cause) {
    const { stderr = '' } = cause as { readonly stderr?: string };
    const isMissing = isCoded(cause) && cause.code === 'ENOENT';
    const said = oneLine(stderr.replace(/^npm error /gm, ''), 500);
    const why = isMissing ? 'npm is not on the PATH' : said;
    throw new KernelError('PLUGIN_FETCH', `npm could not fetch it, and nothing was installed: ${why}`, { cause });
  }
}

function manifestOf(folder: string): Manifest {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) return {};
  try {
    const value = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, unknown>>;
    const texts = ['name', 'version', 'description', 'main'].filter((key) => typeof value[key] === 'string');
    const dependencies = { ...(value['dependencies'] as Manifest['dependencies']) };
    return { ...Object.fromEntries(texts.map((key) => [key, value[key]])), dependencies };
  } catch (cause) {
    throw new KernelError('PLUGIN_SOURCE', `${basename(folder)}/package.json cannot be read as JSON; nothing was installed`, { cause });
  }
}

/** A plugin is found by its index file; a package that says `main` gets one that leads there. */
async function giveEntry(folder: string, { main }: Manifest) {
  if (['index.ts', 'index.js'].some((file) => existsSync(join(folder, file)))) return;
  const path = posix.normalize(main ?? '');
  if (!main || path.startsWith('..') || posix.isAbsolute(path) || !existsSync(join(folder, path))) throw noEntry('it');
  await writeFile(join(folder, 'index.js'), `export { default } from ${JSON.stringify(`./${path}`)};\n`);
}

const noEntry = (what: string) =>
  new KernelError('PLUGIN_SOURCE', `${what} has no index.ts or index.js, and no package.json with a "main"; nothing was installed`);

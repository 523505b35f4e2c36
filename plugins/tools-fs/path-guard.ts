import { constants, existsSync, type Stats } from 'node:fs';
import { type FileHandle, mkdir, open, readlink, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { isCoded, KernelError } from '../../kernel/index.ts';
import { type Guarded, isUnder, type Opened } from './contract.ts';

/** Where paths may lead: under `root`, but not into what is closed unless the root lies deeper in there itself. */
export interface Fence extends Guarded {
  readonly root: string;
  /** What a path means that is said as in a sandbox. */
  readonly alias?: (path: string) => string;
  /** Why nothing under it may be written; absent where it may. */
  readonly readOnly?: string;
}

/** A proven, open folder and the entry in it that is meant. */
export interface Spot extends AsyncDisposable {
  readonly handle: FileHandle;
  /** From the root, for people and models. */
  readonly name: string;
  readonly entry: string;
  /** As in `Opened`. */
  at(entry: string): string;
}

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
/** Linux reaches entries through the descriptor of their folder, as openat does. Elsewhere the real path must do. */
const throughDescriptor = process.platform === 'linux';

/** Opens a file or folder for reading. O_NONBLOCK: a pipe in the workspace must not hang the turn. */
export async function openUnder(fence: Fence, path: string): Promise<Opened> {
  const { root, real, missing } = await locate(fence, path, 'read');
  if (missing.length > 0) throw absent(root, path);
  const held = { handle: await openReal(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, path) };
  return owning(held, async ({ handle }) => {
    const now = await proven(handle, real, fence, root, path, 'read');
    const stats = await handle.stat();
    if (!stats.isFile() && !stats.isDirectory()) {
      throw new KernelError('PATH_SPECIAL', `"${path}" is neither a file nor a folder; it cannot be read or written`);
    }
    return {
      handle,
      kind: stats.isFile() ? 'file' : 'folder',
      name: relative(root, now) || '.',
      stats,
      at: (entry) => entryOf(handle, now, entry),
      [Symbol.asyncDispose]: () => handle.close(),
    };
  });
}

/** Opens the folder of a file that is to be written, made or removed. `make` makes missing folders, the root too. */
export async function openSpot(fence: Fence, path: string, { make = false, follow = true } = {}): Promise<Spot> {
  if (fence.readOnly !== undefined) throw new KernelError('SANDBOX_READONLY', `"${path}" cannot be written: ${fence.readOnly}`);
  if (make) await mkdir(fence.root, { recursive: true });
  const { root, real, missing } = await locate(fence, path, 'change', follow);
  if (real === root && missing.length === 0) throw isFolder(path);
  const start = missing.length > 0 ? real : dirname(real);
  const steps = missing.slice(0, -1);
  const entry = missing.at(-1) ?? basename(real);
  if (steps.length > 0 && !make) throw absent(root, path);
  return owning({ handle: await openFolder(start, path) }, async (held) => {
    let folder = await proven(held.handle, start, fence, root, path, 'change');
    for (const step of steps) {
      const next = await stepInto(held.handle, folder, step, path);
      await held.handle.close();
      held.handle = next;
      folder = await proven(next, join(folder, step), fence, root, path, 'change');
    }
    check(fence, root, join(folder, entry), path, 'change');
    const { handle } = held;
    const at = (name: string) => entryOf(handle, folder, name);
    return { handle, name: relative(root, join(folder, entry)), entry, at, [Symbol.asyncDispose]: () => handle.close() };
  });
}

const entryOf = (folder: FileHandle, path: string, entry: string) =>
  throughDescriptor ? `/proc/self/fd/${folder.fd}/${entry}` : join(path, entry);

interface Located {
  readonly root: string;
  /** The deepest part that exists, as a real path. */
  readonly real: string;
  /** What does not exist below it. */
  readonly missing: readonly string[];
}

/** A first look, which gives good errors; what counts is proven on what was opened. */
async function locate(fence: Fence, path: string, use: Use, follow = true): Promise<Located> {
  if (path.includes('\0')) throw new KernelError('PATH_OUTSIDE', 'a path cannot hold a NUL character');
  const base = await deepest(resolve(fence.root));
  const root = join(base.real, ...base.missing);
  const asked = resolve(root, (fence.alias ? fence.alias(path) : path).replace(/^~(?=\/|$)/, homedir()));
  const last = follow || asked === root ? undefined : basename(asked);
  const located = last === undefined ? await deepest(asked) : withEntry(await deepest(dirname(asked)), last);
  check(fence, root, join(located.real, ...located.missing), path, use);
  return { root, ...located };
}

type Found = Omit<Located, 'root'>;

async function deepest(path: string): Promise<Found> {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    const real = await realpath(at).catch((error: unknown) => {
      if (at !== dirname(at) && isCoded(error) && ['ENOENT', 'ENOTDIR'].includes(error.code)) return undefined;
      throw failed(path, error);
    });
    if (real !== undefined) return { real, missing };
    missing.unshift(basename(at));
  }
}

/** The entry itself, even where it is a link. */
function withEntry({ real, missing }: Found, entry: string): Found {
  return missing.length > 0 ? { real, missing: [...missing, entry] } : { real: join(real, entry), missing: [] };
}

function check({ closed, fixed }: Fence, root: string, real: string, path: string, use: Use) {
  if (!isUnder(root, real)) {
    throw new KernelError('PATH_OUTSIDE', `"${path}" leads outside the workspace ${root}; use a path inside it`);
  }
  if (closed.includes(root)) {
    const cure = 'a person has to give the agent another workspace (in agents.list or agents.defaults)';
    throw new KernelError('PATH_CLOSED', `the workspace ${root} is the state folder or the system's, which tools may not touch; ${cure}`);
  }
  const shut = closed.find((part) => isUnder(part, real) && !isUnder(part, root));
  if (shut) throw new KernelError('PATH_CLOSED', `"${path}" belongs to ${shut}, which tools may not touch`);
  const code = use === 'read' ? undefined : fixed.find((part) => isUnder(part, real));
  if (code) throw new KernelError('PATH_CLOSED', `"${path}" belongs to ${code}, ${whyFixed}`);
}

type Use = 'read' | 'change';
const whyFixed =
  'which decides what the gateway runs (plugins and what they import, programs of mcp and secrets, or its own): tools may read it and not change it. ' +
  'A person can move the workspace elsewhere, or approve a command that writes there, such as cp';

/** The real path of what is open; throws unless the fence holds it. */
async function proven(handle: FileHandle, real: string, fence: Fence, root: string, path: string, use: Use): Promise<string> {
  const now = throughDescriptor ? await readlink(`/proc/self/fd/${handle.fd}`) : await realpath(real);
  check(fence, root, now, path, use);
  if (!throughDescriptor && !isSame(await handle.stat(), await stat(now))) {
    throw new KernelError('PATH_OUTSIDE', `"${path}" was moved while it was being opened; try again`);
  }
  return now;
}

const isSame = (a: Stats, b: Stats) => a.ino === b.ino && a.dev === b.dev;

async function stepInto(parent: FileHandle, path: string, step: string, asked: string): Promise<FileHandle> {
  const at = entryOf(parent, path, step);
  await mkdir(at).catch((error: unknown) => {
    if (!isCoded(error) || error.code !== 'EEXIST') throw failed(asked, error);
  });
  return openFolder(at, asked);
}

const openFolder = (path: string, asked: string) => openReal(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, asked);

async function openReal(path: string, flags: number, asked: string): Promise<FileHandle> {
  return open(path, flags).catch((error: unknown) => {
    throw failed(asked, error);
  });
}

/** Hands what is open on to the result, and closes it where there is none. */
async function owning<T>(held: { handle: FileHandle }, work: (held: { handle: FileHandle }) => Promise<T>): Promise<T> {
  try {
    return await work(held);
  } catch (error) {
    await held.handle.close();
    throw error;
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'has a file where a folder should be',
  ELOOP: 'is or holds a link that cannot be followed here',
  EACCES: 'may not be opened by this user',
  EPERM: 'may not be opened by this user',
  ENAMETOOLONG: 'is too long a name',
  ENXIO: 'is neither a file nor a folder',
};

function failed(path: string, cause: unknown): KernelError {
  const code = isCoded(cause) ? cause.code : 'unknown';
  const why = reasons[code] ?? `cannot be opened (${code})`;
  return new KernelError(code === 'ENOENT' ? 'PATH_MISSING' : 'PATH_UNUSABLE', `"${path}" ${why}`, { cause });
}

function absent(root: string, path: string): KernelError {
  const advice = existsSync(root) ? 'read "." to list what is there' : 'the workspace is empty so far';
  return new KernelError('PATH_MISSING', `"${path}" does not exist in the workspace; ${advice}`);
}

export const isFolder = (path: string) => new KernelError('PATH_KIND', `"${path}" is a folder; name a file`);

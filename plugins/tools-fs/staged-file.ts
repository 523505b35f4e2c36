import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { access, lstat, open, rename, rm, unlink } from 'node:fs/promises';
import { isCoded, KernelError } from '../../kernel/index.ts';
import { type Fence, isFolder, openSpot, type Spot } from './path-guard.ts';

/** A change that is ready: what could fail has been tried. Disposing it without `commit` leaves no trace. */
export interface Staged extends AsyncDisposable {
  readonly name: string;
  /** Whether a file was there before. */
  readonly replaces: boolean;
  commit(): Promise<void>;
}

/** What the file must still be at the commit: these stats, nothing, or whatever it is. */
export type Expected = Stats | 'absent' | 'anything';

/** Writes beside the target; the commit renames over it, so that a reader sees the old text or the new. The mode is kept, or is that of `like`. */
export async function stageWrite(fence: Fence, path: string, content: string, expected: Expected, like?: Stats): Promise<Staged> {
  const spot = await openSpot(fence, path, { make: true });
  const draft = spot.at(`.instar-${randomBytes(8).toString('hex')}.tmp`);
  let drafted = false;
  const dispose = async () => {
    if (drafted) await rm(draft, { force: true }).catch(() => {}); // its folder is gone, or no longer ours
    await spot.handle.close();
  };
  try {
    const before = await unchanged(spot, expected);
    if (before && !before.isFile()) throw new KernelError('PATH_SPECIAL', `"${spot.name}" is a broken link or no regular file`);
    await writable(spot, spot.at(before ? spot.entry : '.'));
    drafted = true;
    await writeDraft(draft, content, like ?? before);
    const commit = async () => {
      await unchanged(spot, expected);
      await rename(draft, spot.at(spot.entry));
      drafted = false;
    };
    return { name: spot.name, replaces: before !== undefined, commit, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** Removes a file at the commit; of a link, the link. */
export async function stageRemoval(fence: Fence, path: string, expected: Expected): Promise<Staged> {
  const spot = await openSpot(fence, path, { follow: false });
  try {
    await writable(spot, spot.at('.'));
    if (!(await unchanged(spot, expected))) throw new KernelError('PATH_MISSING', `"${spot.name}" does not exist`);
  } catch (error) {
    await spot.handle.close();
    throw error;
  }
  const commit = async () => {
    await unchanged(spot, expected);
    await unlink(spot.at(spot.entry));
  };
  return { name: spot.name, replaces: true, commit, [Symbol.asyncDispose]: () => spot.handle.close() };
}

async function unchanged(spot: Spot, expected: Expected): Promise<Stats | undefined> {
  const now = await lstat(spot.at(spot.entry)).catch((error: unknown) => {
    if (isCoded(error) && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (now?.isDirectory()) throw isFolder(spot.name);
  if (expected === 'anything') return now;
  if (expected === 'absent') {
    if (now) throw new KernelError('FILE_EXISTS', `"${spot.name}" exists already; update it instead`);
  } else if (!now || now.ino !== expected.ino || now.size !== expected.size || now.mtimeMs !== expected.mtimeMs) {
    throw new KernelError('FILE_CHANGED', `"${spot.name}" was changed by someone else meanwhile; read it again`);
  }
  return now;
}

/** Renaming over a read-only file would succeed: respect its mode as a plain write does. */
async function writable(spot: Spot, path: string) {
  await access(path, constants.W_OK).catch((cause: unknown) => {
    throw new KernelError('PATH_UNUSABLE', `"${spot.name}" may not be written by this user`, { cause });
  });
}

async function writeDraft(draft: string, content: string, like: Stats | undefined) {
  await using file = await open(draft, 'wx', like ? 0o600 : 0o666);
  await file.writeFile(content);
  if (!like) return;
  if (like.uid !== process.getuid?.()) await file.chown(like.uid, like.gid).catch(() => {}); // only root may give away
  await file.chmod(like.mode & 0o777);
}

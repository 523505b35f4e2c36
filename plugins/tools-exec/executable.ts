import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';

/** What a command's name leads to. */
export interface Executable {
  /** As it is started: the name matters to programs that are several in one. Its folder is a real path. */
  readonly found: string;
  readonly real: string;
  /** Whether PATH led to it, and not a path in the text. */
  readonly isByName: boolean;
}

/** Finds it as a shell would, but never by an empty or relative entry of PATH. Undefined where nothing executable is there. */
export async function resolveExecutable(name: string, cwd: string, path: string): Promise<Executable | undefined> {
  if (name.includes('/')) return executableAt(resolve(cwd, name), false);
  for (const folder of path.split(':').filter(isAbsolute)) {
    const found = await executableAt(join(folder, name), true);
    if (found) return found;
  }
  return undefined;
}

async function executableAt(path: string, isByName: boolean): Promise<Executable | undefined> {
  try {
    const real = await realpath(path);
    const isFile = (await stat(real)).isFile();
    await access(real, constants.X_OK);
    return isFile ? { found: join(await realpath(dirname(path)), basename(path)), real, isByName } : undefined;
  } catch {
    return undefined; // not there, or not for this user
  }
}

/** Files up to here are compared by content as well: times of files have steps of some milliseconds. */
const maxHashed = 1_048_576;

/** Changes whenever the file, or what its path leads to, does: the change time cannot be set back. */
export async function fingerprint(path: string): Promise<string> {
  try {
    const real = await realpath(path);
    const stats = await stat(real, { bigint: true });
    const { dev, ino, size, mtimeNs, ctimeNs } = stats;
    const content = stats.isFile() && size <= maxHashed ? await sha256(real) : '';
    return [real, dev, ino, size, ...(content ? [content] : [mtimeNs, ctimeNs])].join(':');
  } catch {
    return 'absent';
  }
}

export async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

export const isUnder = (folder: string, path: string) => path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);

import { constants } from 'node:fs';
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

export const isUnder = (folder: string, path: string) => path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);

/** Where only the owner of the machine installs things: an update there is no reason to ask again. */
const system = /^\/(usr|bin|sbin|opt|nix|snap|lib|lib64|System|Library)\//;

export const isSystem = (path: string): boolean => system.test(path);

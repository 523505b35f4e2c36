import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

type Env = Readonly<Record<string, string | undefined>>;

/** Enough for a backend's own program; nothing of what a command was given. */
export const plainPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The program by the gateway's PATH, never by a relative entry of it. */
export function findProgram(name: string, env: Env): string | undefined {
  const folders = (env['PATH'] ?? plainPath).split(':').filter(isAbsolute);
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

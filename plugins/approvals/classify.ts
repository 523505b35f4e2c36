import { realpath } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import { type Classified, classOf, type Requested } from './contract.ts';

/** The class of a permission request, by the files as they are. */
export async function classify({ path, cwd, ...request }: Requested): Promise<Classified> {
  return classOf(request, await liesIn(path, cwd));
}

async function liesIn(path: string | undefined, cwd: string | undefined): Promise<boolean> {
  if (!path || !cwd || path.includes('\0')) return false;
  try {
    const [folder, file] = await Promise.all([realpath(cwd), realpath(isAbsolute(path) ? path : join(cwd, path))]);
    return file === folder || file.startsWith(folder.endsWith(sep) ? folder : folder + sep);
  } catch {
    return false; // not there: nothing that could be read
  }
}

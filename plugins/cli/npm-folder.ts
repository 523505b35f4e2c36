import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Scripts of package.json that run us with what a person typed. */
const scripts = ['start', 'dev', 'instar'];

/**
 * npm runs a script in the package's folder, whatever folder it was called in, and leaves that in INIT_CWD. Where it is our own
 * script that runs us, the folder in which the person typed is the one that his `./dice` and `my.json5` mean; else undefined.
 */
export function typedIn(env: Readonly<Record<string, string | undefined>>, folder: string, root = join(import.meta.dirname, '../..')) {
  const { INIT_CWD: typed, npm_lifecycle_event: script = '', npm_package_json: manifest } = env;
  const isOurs = scripts.includes(script) && manifest !== undefined && isSame(resolve(manifest, '..'), root) && isSame(folder, root);
  return isOurs && typed ? typed : undefined;
}

function isSame(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return false; // a folder that is not there is no folder of ours
  }
}

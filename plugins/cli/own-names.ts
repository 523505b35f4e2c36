import { extname, join } from 'node:path';

/** Of a clone, or of a package's `dist`. */
export const ownRoot = join(import.meta.dirname, '../..');
/** Of our files: `.ts` in a clone, `.js` in a package. */
export const ownExtension = extname(import.meta.filename);

/** What plugins import of us, by name; `*` is a plugin's name. */
export const ownNames: Readonly<Record<string, string>> = {
  instar: 'kernel/index',
  'instar/contracts/*': 'plugins/*/contract',
  'instar/testing': 'plugins/testing/kit',
};

const fileAt = (path: string) => join(ownRoot, `${path}${ownExtension}`);

/** The file behind a name, e.g. behind `instar/contracts/agents`. */
export function ownFile(name: string): string | undefined {
  const plugin = /^instar\/contracts\/([a-z][a-z0-9-]*)$/.exec(name)?.[1];
  if (plugin) return fileAt(`plugins/${plugin}/contract`);
  const path = name.includes('*') ? undefined : ownNames[name];
  return path && fileAt(path);
}

/** Whether a file is one that has a name. */
export const isNamed = (file: string) =>
  file.startsWith(`${ownRoot}/`) &&
  /^(kernel\/index|plugins\/[a-z0-9-]+\/contract|plugins\/testing\/kit)\.[jt]s$/.test(file.slice(ownRoot.length + 1));

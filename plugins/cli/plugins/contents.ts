import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { KernelError } from '../../../kernel/index.ts';

export interface ContentFile {
  /** Relative to the plugin's folder, with `/`. */
  readonly path: string;
  readonly size: number;
}

/** Every file below a folder, sorted. A link is refused: what it leads to is neither shown nor hashed, and may change. */
export function contentsOf(folder: string): readonly ContentFile[] {
  const below = (path: string): readonly ContentFile[] =>
    readdirSync(join(folder, path), { withFileTypes: true }).flatMap((entry) => {
      const inner = path ? `${path}/${entry.name}` : entry.name;
      if (entry.isDirectory()) return below(inner);
      if (entry.isFile()) return [{ path: inner, size: statSync(join(folder, inner)).size }];
      throw new KernelError('PLUGIN_LINK', `${inner} is a link or no plain file; a plugin that is installed holds plain files only`);
    });
  return below('').toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Over names, sizes and bytes, in the order of the names. */
export function integrityOf(folder: string, files = contentsOf(folder)): string {
  const hash = createHash('sha256');
  for (const { path } of files) {
    const bytes = readFileSync(join(folder, path));
    hash.update(`${JSON.stringify([path, bytes.length])}\n`).update(bytes);
  }
  return `sha256-${hash.digest('base64')}`;
}

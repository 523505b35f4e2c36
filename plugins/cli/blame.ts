import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isCoded } from '../../kernel/index.ts';

/** Names of users' plugins, by the folder of their source. Ours lie beside us. */
export type Folders = ReadonlyMap<string, string>;
export type Blame = { readonly plugin: string; readonly place?: string };

const ours = join(import.meta.dirname, '..');

/** Whose failure it is: by what the error says, by its stack, or by whoever began what failed. */
export function blame(error: unknown, folders: Folders, origin?: string): Blame | undefined {
  const said = isCoded(error) ? error.facts?.plugin : undefined;
  const found = [error, (error as Error | undefined)?.cause].map((one) => placeIn(one, folders, said)).find(Boolean);
  const plugin = said ?? found?.plugin ?? origin;
  return plugin === undefined ? undefined : { plugin, ...(found && { place: found.place }) };
}

/** The innermost call that is a plugin's own and not a library's; only those of `plugin` where it is known. */
function placeIn(error: unknown, folders: Folders, plugin: string | undefined) {
  const { stack } = (error ?? {}) as { readonly stack?: unknown };
  if (typeof stack !== 'string') return undefined;
  for (const [, path = '', line] of stack.matchAll(/((?:file:\/\/)?\/[^\n()]*):(\d+):\d+\)?$/gm)) {
    const file = path.startsWith('file:') ? fileURLToPath(path) : path;
    const owner = ownerOf(file, folders);
    if (owner && owner === (plugin ?? owner)) return { plugin: owner, place: `${file}:${line}` };
  }
  return undefined;
}

function ownerOf(file: string, folders: Folders): string | undefined {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (basename(folder) === 'node_modules') return undefined;
    const plugin = dirname(folder) === ours ? basename(folder) : folders.get(folder);
    if (plugin !== undefined) return plugin;
  }
  return undefined;
}

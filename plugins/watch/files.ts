import { type FSWatcher as FolderWatcher, readFileSync, watch as watchFolder } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { FSWatcher } from 'chokidar';

export interface Watched {
  /** Single files: the config's, `.env`. They may be absent, replaced or written again. */
  readonly files: readonly string[];
  /** Folders where plugins may appear, with all below them. What is there when watching begins counts as changed: it may just have been. */
  readonly roots: readonly string[];
  /** Further folders of plugins, with all below them. */
  readonly folders: readonly string[];
}

/**
 * Single files are watched through their folders, so that a rename over a file, a deletion and a new creation are seen like
 * any edit; only one level deep, for the state folder is among them and is written to all the time.
 */
export function watchFiles(changed: (file: string) => void, report: (error: unknown) => void) {
  const contents = new Map<string, string>();
  const parents = new Map<string, FolderWatcher>();
  let wanted: ReadonlySet<string> = new Set();
  let folders: ReadonlySet<string> = new Set();
  let places: readonly string[] = [];
  let deep: Promise<FSWatcher> | undefined;

  /** Saving without a change is no change, and one save may come as several events. */
  function onEvent(file: string) {
    const now = contentOf(file);
    if (contents.get(file) === now) return;
    contents.set(file, now);
    changed(file);
  }

  function onDeepEvent(event: string, file: string) {
    const isKnown = contents.has(file) || places.some((place) => file.startsWith(`${place}/`));
    if (event === 'add' && !isKnown) contents.set(file, contentOf(file));
    else onEvent(file);
  }

  function followFiles(files: readonly string[]) {
    wanted = new Set(files);
    for (const file of files) if (!contents.has(file)) contents.set(file, contentOf(file));
    for (const folder of new Set(files.map((file) => dirname(file)))) {
      if (parents.has(folder)) continue;
      const onName = (_: string, name: string | null) => {
        for (const file of wanted) if (dirname(file) === folder && (!name || name === basename(file))) onEvent(file);
      };
      try {
        parents.set(folder, watchFolder(folder, onName).on('error', report));
      } catch (error) {
        report(error);
      }
    }
  }

  /** Chokidar is loaded here, after everything that a start needs. */
  async function followFolders(now: readonly string[]) {
    const fresh = now.filter((folder) => !folders.has(folder));
    folders = new Set(now);
    deep ??= import('chokidar').then(({ watch }) =>
      watch([], { ignored: (path) => /\/(node_modules|\.git|dist)$/.test(path) })
        .on('all', (event, path) => event.endsWith('Dir') || onDeepEvent(event, path))
        .on('error', report),
    );
    const watcher = await deep;
    if (!watcher.closed) watcher.add(fresh);
  }

  return {
    /** What is watched follows what is live. */
    async follow({ files, roots, folders: more }: Watched) {
      places = roots;
      followFiles(files);
      await followFolders([...new Set([...roots, ...more])]);
    },
    async [Symbol.asyncDispose]() {
      for (const parent of parents.values()) parent.close();
      await (await deep)?.close();
    },
  };
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return ''; // not there: a state like any other
  }
}

/** Where users' plugins lie unless the config says otherwise. */
export const userFolder = (home: string) => join(home, 'plugins');

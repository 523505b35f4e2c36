import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { type Run, service, waterfall } from '../../kernel/index.ts';

/** What decides over the gateway: files and folders, absolute. A model reaches it by no tool, however wide its workspace is. */
export interface Guarded {
  /** State, config, and files of secrets: neither read nor changed. */
  readonly closed: readonly string[];
  /** What the gateway runs: read, and not changed. */
  readonly fixed: readonly string[];
}

/** What a plugin's own config names. Of what `programs` are started with, files are read and not changed; folders are their data. */
export interface NamedFiles extends Guarded {
  readonly programs: readonly { readonly command: string; readonly args: readonly string[]; readonly cwd: string }[];
}

/** A plugin adds the files that its own config names. Asked at every call: cheap. */
export const GuardedFiles = waterfall<NamedFiles>('fs.guarded');

/** Whether a path is a folder, or lies in it. */
export const isUnder = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);

/** An open file or folder; what is open was proven to lie under the root, whatever its path names by now. */
export interface Opened extends AsyncDisposable {
  readonly handle: FileHandle;
  readonly kind: 'file' | 'folder';
  /** From the root, for people and models; `.` is the root. */
  readonly name: string;
  readonly stats: Stats;
  /** A path to an entry of the open folder: swapping one of its parents does not lead it elsewhere. */
  at(entry: string): string;
}

/** The one way to open a path that a model or a person named. */
export interface PathGuard {
  /** Opens for reading; throws PATH_OUTSIDE, PATH_CLOSED, PATH_MISSING or PATH_SPECIAL. */
  open(root: string, path: string, run: Run): Promise<Opened>;
  /** Opens the folder of a file that is to be written; throws as `open` does. Open the file with O_NOFOLLOW. */
  spot(root: string, path: string, run: Run): Promise<WriteSpot>;
  /** Of this moment, as real paths, with the links on the way to them: a reload may bring files and plugins. */
  guarded(run: Run): Promise<Guarded>;
}

/** A proven, open folder and the entry in it that is meant. */
export interface WriteSpot extends AsyncDisposable {
  readonly entry: string;
  /** As in `Opened`. */
  at(entry: string): string;
}

export const PathGuard = service<PathGuard>('path.guard');

import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { service } from '../../kernel/index.ts';

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
  open(root: string, path: string): Promise<Opened>;
  /** Opens the folder of a file that is to be written; throws as `open` does. Open the file with O_NOFOLLOW. */
  spot(root: string, path: string): Promise<WriteSpot>;
}

/** A proven, open folder and the entry in it that is meant. */
export interface WriteSpot extends AsyncDisposable {
  readonly entry: string;
  /** As in `Opened`. */
  at(entry: string): string;
}

export const PathGuard = service<PathGuard>('path.guard');

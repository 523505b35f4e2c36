import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Who has the state folder, in its own words (`<home>/gateway.json`). */
export interface Holder {
  readonly pid: number;
  /** `command`: a terminal command that brought its own gateway and leaves with it. */
  readonly mode: 'gateway' | 'command';
  /** ISO time. */
  readonly started: string;
  /** Whatever it announced, such as its `url`. */
  readonly [fact: string]: unknown;
}

export type Lock = NonNullable<ReturnType<typeof takeLock>>;

/**
 * Takes the state folder, or returns undefined where another process has it. The lock is the system's, on a file that
 * SQLite holds open: it ends with the process, however that ends. Nothing else in this process may open that file,
 * for closing any handle of it would drop the lock.
 */
export function takeLock(home: string, mode: Holder['mode']) {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(join(home, 'lock.db'), { timeout: 100 });
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (cause) {
    database.close();
    if ((cause as { errcode?: number }).errcode === 5) return undefined; // SQLITE_BUSY
    throw cause;
  }
  const self = { pid: process.pid, mode, started: new Date().toISOString() };
  const file = join(home, 'gateway.json');
  /** Readers see the old text or the new one, and nobody else's eyes do. */
  const announce = (facts: object) => {
    writeFileSync(`${file}.new`, JSON.stringify({ ...facts, ...self }), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  const release = () => {
    if (!database.isOpen) return;
    rmSync(file, { force: true });
    database.close();
  };
  announce({}); // replaces what a killed holder left
  return { announce, release };
}

/** The holder of the lock as it announced itself; it may be gone by now. */
export function readHolder(home: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(join(home, 'gateway.json'), 'utf8')) as Holder;
  } catch {
    return undefined; // there is none
  }
}

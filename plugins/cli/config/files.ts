import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { KernelError } from '../../../kernel/index.ts';

/** The text of a config file, with its BOM; undefined where there is none. */
export function readText(file: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (cause instanceof TypeError) throw new KernelError('CONFIG_TEXT', `${file} is not UTF-8; save it as that`, { cause });
    throw cause;
  }
}

/**
 * Puts a text in place of the one that was read; one that was written meanwhile is kept, and told. `undefined` is no file.
 * In one step, beside the file that a link leads to, with its mode.
 */
export function replaceText(file: string, before: string | undefined, after: string | undefined) {
  const target = targetOf(file);
  using _ = exclusive(target);
  if (readText(file) !== before) {
    throw new KernelError('CONFIG_CONFLICT', `${file} was changed meanwhile by somebody else; nothing was written, try again`);
  }
  if (after === undefined) return rmSync(file);
  const fresh = beside(target, randomBytes(4).toString('hex'));
  try {
    write(fresh, after);
    if (before !== undefined) keepOwner(fresh, statSync(target));
    renameSync(fresh, target);
  } catch (cause) {
    rmSync(fresh, { force: true });
    throw cause;
  }
}

const beside = (target: string, ending: string) => join(dirname(target), `.${basename(target)}.${ending}`);

function targetOf(file: string): string {
  const isThere = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  return isThere ? realpathSync(file) : file;
}

function write(file: string, text: string) {
  const descriptor = openSync(file, 'wx', 0o600);
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** As it was, also where an administrator edits a user's file. */
function keepOwner(file: string, { mode, uid, gid }: Stats) {
  const now = statSync(file);
  if (now.uid !== uid || now.gid !== gid) chownSync(file, uid, gid);
  chmodSync(file, mode & 0o7777); // last, for a change of owner takes some bits away
}

const staleMs = 10_000;

/** Between two writers of ours, comparing and replacing are one step. It takes no time, so that an old lock is a dead one's. */
function exclusive(target: string): Disposable {
  const lock = beside(target, 'lock');
  for (const deadline = Date.now() + 2000; ; Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)) {
    try {
      closeSync(openSync(lock, 'wx', 0o600));
      return { [Symbol.dispose]: () => rmSync(lock, { force: true }) };
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
      const { mtimeMs = Date.now() } = statSync(lock, { throwIfNoEntry: false }) ?? {};
      if (Date.now() - mtimeMs > staleMs) rmSync(lock, { force: true });
      else if (Date.now() > deadline)
        throw new KernelError('CONFIG_CONFLICT', `${target} is being written by another command; nothing was written, try again`, {
          cause,
        });
    }
  }
}

import { isCoded, KernelError, messageOf } from '../../kernel/index.ts';

/** What SQLite says of the disk, the file and the memory; all else (a constraint, wrong SQL) is the statement's own fault. */
const ofTheDisk = new Set([5, 6, 7, 8, 10, 11, 13, 14, 26]); // busy, locked, no memory, read-only, i/o, corrupt, full, cannot open, no database

/** An error as the store tells it: STORE_UNUSABLE where trying again later may help. */
export function storeError(file: string, error: unknown): unknown {
  const { errcode } = error as { errcode?: number };
  return typeof errcode === 'number' && ofTheDisk.has(errcode & 0xff) ? unusable(file, error) : error;
}

export function unusable(file: string, cause: unknown): KernelError {
  if (isCoded(cause) && cause.code === 'STORE_UNUSABLE') return cause as KernelError;
  const what = `${file}: ${messageOf(cause)}; check that the state folder is writable and the disk not full`;
  return new KernelError('STORE_UNUSABLE', what, { cause });
}

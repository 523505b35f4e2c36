import { closeSync, constants, fchmodSync, fstatSync, lstatSync, openSync } from 'node:fs';
import type { Finding } from './contract.ts';

/** A mode that `--fix` may change: bits are only ever taken away. */
export interface Closing {
  readonly file: string;
  readonly excess: number;
  readonly from: string;
  readonly to: string;
}

const octal = (mode: number) => (mode & 0o777).toString(8).padStart(3, '0');

/** Files and folders of ours, no links; each once, with all the bits that it must lose. */
export function closable(findings: readonly Finding[]): readonly Closing[] {
  const excess = new Map<string, number>();
  for (const { file, excess: bits } of findings) if (file !== undefined && bits) excess.set(file, (excess.get(file) ?? 0) | bits);
  return [...excess].flatMap(([file, bits]) => {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    const isOurs = stats && !stats.isSymbolicLink() && [stats.uid, 0].includes(process.getuid?.() ?? stats.uid);
    return isOurs ? [{ file, excess: bits, from: octal(stats.mode), to: octal(stats.mode & ~bits) }] : [];
  });
}

/** What is open is what is changed: a link that was put there since is refused. */
export function close({ file, excess }: Closing) {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    fchmodSync(descriptor, fstatSync(descriptor).mode & 0o7777 & ~excess);
  } finally {
    closeSync(descriptor);
  }
}

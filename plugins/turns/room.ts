import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds between two tries; the last one again and again. */
const waits = [100, 1_000, 5_000];

const ofAFullDisk = new Set(['ENOSPC', 'EDQUOT']);

const isFull = (error: unknown) => ofAFullDisk.has((error as { cause?: { code?: string } } | undefined)?.cause?.code ?? '');

/**
 * Writes something that has happened already: while the disk is full it is tried again, until there is room or `signal`
 * ends. `told` hears of it once. Any other failure, such as missing rights, is none that passes by itself.
 */
export async function onceThereIsRoom<T>(write: () => Promise<T>, signal: AbortSignal, told: (message: string) => void): Promise<T> {
  for (let tried = 0; ; tried++) {
    try {
      return await write();
    } catch (error) {
      if (!isFull(error) || signal.aborted) throw error;
      if (tried === 0) told((error as Error).message);
    }
    await pause(waits[tried] ?? waits.at(-1), undefined, { signal }).catch(() => {}); // ended: one last try
  }
}

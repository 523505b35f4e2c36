import { setTimeout as pause } from 'node:timers/promises';
import { isCoded, type Log } from '../../kernel/index.ts';
import type { Store } from './contract.ts';

/** Milliseconds between two tries; the last one again and again. */
const waits = [100, 1_000, 5_000, 15_000];

/** A turn that has ended cannot be taken back because the disk is full: its end is written once there is room. */
export function insistent(tx: Store['tx'], log: Log): Store['insist'] {
  let isTold = false; // once for all that wait
  return async (work, signal) => {
    for (let tried = 0; ; tried++) {
      try {
        const result = await tx(work);
        if (isTold) log.info('the state folder can be written again');
        isTold = false;
        return result;
      } catch (error) {
        if (!isCoded(error) || error.code !== 'STORE_UNUSABLE' || signal.aborted) throw error;
        if (!isTold) log.error(`${error.message}; it is tried again until there is room`);
        isTold = true;
      }
      await pause(waits[tried] ?? waits.at(-1), undefined, { signal }).catch(() => {}); // ended: one last try
    }
  };
}

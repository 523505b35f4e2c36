import { isCoded, type Log, messageOf } from '../../kernel/index.ts';
import { type Store, untilThereIsRoom } from './contract.ts';

/** A turn that has ended cannot be taken back because the disk is full: its end is written once there is room. */
export function insistent(tx: Store['tx'], log: Log, signal: () => AbortSignal): Store['insist'] {
  let isTold = false; // once for all that wait
  const failed = (error: unknown) => {
    if (!isTold) log.error(`${messageOf(error)}; it is tried again until there is room`);
    isTold = true;
  };
  const passes = (error: unknown) => isCoded(error) && error.code === 'STORE_UNUSABLE';
  return async (work) => {
    const result = await untilThereIsRoom(() => tx(work), { passes, signal, failed });
    if (isTold) log.info('the state folder can be written again');
    isTold = false;
    return result;
  };
}

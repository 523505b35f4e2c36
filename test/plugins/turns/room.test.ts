import { expect, test, vi } from 'vitest';
import { KernelError } from '../../../kernel/index.ts';
import { type Patience, untilThereIsRoom } from '../../../plugins/store/contract.ts';
import { isFull } from '../../../plugins/turns/room.ts';

const failing = (code: string) =>
  new KernelError('TRANSCRIPT_UNWRITABLE', `no: ${code}`, { cause: Object.assign(new Error('x'), { code }) });

test('what has been said is written once there is room, and each failed try is told', async () => {
  const failed = vi.fn<Patience['failed']>();
  let tries = 0;
  const write = async () => {
    if (++tries < 3) throw failing('ENOSPC');
    return 'written';
  };
  expect(await untilThereIsRoom(write, { passes: isFull, signal: () => new AbortController().signal, failed })).toBe('written');
  expect(failed.mock.calls.map(([error, tried]) => [(error as Error).message, tried])).toEqual([
    ['no: ENOSPC', 0],
    ['no: ENOSPC', 1],
  ]);
});

test('rights that are missing are told at once, and a stop ends the wait after one last try', async () => {
  const stop = new AbortController();
  const patience: Patience = { passes: isFull, signal: () => stop.signal, failed: () => stop.abort() };
  await expect(untilThereIsRoom(() => Promise.reject(failing('EACCES')), patience)).rejects.toThrow('no: EACCES');
  const write = vi.fn<() => Promise<never>>(() => Promise.reject(failing('ENOSPC')));
  await expect(untilThereIsRoom(write, patience)).rejects.toThrow('no: ENOSPC');
  expect(write).toHaveBeenCalledTimes(2);
});

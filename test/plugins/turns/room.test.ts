import { expect, test, vi } from 'vitest';
import { KernelError } from '../../../kernel/index.ts';
import { onceThereIsRoom } from '../../../plugins/turns/room.ts';

const failing = (code: string) =>
  new KernelError('TRANSCRIPT_UNWRITABLE', `no: ${code}`, { cause: Object.assign(new Error('x'), { code }) });

test('what has been said is written once there is room, and that it waits is told once', async () => {
  const told = vi.fn<(message: string) => void>();
  let tries = 0;
  const write = async () => {
    if (++tries < 3) throw failing('ENOSPC');
    return 'written';
  };
  expect(await onceThereIsRoom(write, new AbortController().signal, told)).toBe('written');
  expect(told.mock.calls).toEqual([['no: ENOSPC']]);
});

test('rights that are missing are told at once, and a stop ends the wait after one last try', async () => {
  const told = vi.fn<(message: string) => void>();
  await expect(onceThereIsRoom(() => Promise.reject(failing('EACCES')), new AbortController().signal, told)).rejects.toThrow('no: EACCES');
  const stop = new AbortController();
  const write = vi.fn<() => Promise<never>>(() => Promise.reject(failing('ENOSPC')));
  const written = onceThereIsRoom(write, stop.signal, () => stop.abort());
  await expect(written).rejects.toThrow('no: ENOSPC');
  expect(write).toHaveBeenCalledTimes(2);
});

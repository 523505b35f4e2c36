import { KernelError, messageOf } from '../../kernel/index.ts';
import type { CommandHost } from './contract.ts';

/** A full disk and a folder that nobody may write are met here first, by every command that needs state. */
export const lockTaker =
  (takeLock: CommandHost['takeLock']): CommandHost['takeLock'] =>
  async (home, mode) => {
    try {
      return await takeLock(home, mode);
    } catch (cause) {
      const what = `the state folder ${home} cannot be written (${messageOf(cause)})`;
      throw new KernelError('STATE_UNUSABLE', `${what}; make room on its disk, or mend its rights, and try again`, { cause });
    }
  };

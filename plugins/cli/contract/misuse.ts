import { KernelError } from '../../../kernel/index.ts';

/** Thrown by a command that was called wrongly: told with its usage in one line, and the process ends with 64. */
export const misused = (what: string): KernelError => new KernelError('CLI_USAGE', what);

import { logOf } from '../../kernel/index.ts';
import type { Booted, LogFile } from './contract.ts';

/**
 * What nothing caught, such as a plugin's timer that throws, is told and the gateway goes on: one plugin must not end the
 * work of all others. What it left half done is its own; our own state is rows and files, written whole or not at all.
 */
export function guard({ stopped }: Booted, { sink }: LogFile) {
  const log = logOf(sink);
  const onRejection = (error: unknown) => log.error(`unhandled rejection: ${String(error)}`, { error });
  const onException = (error: unknown) => log.error(`uncaught exception, the gateway goes on: ${String(error)}`, { error });
  process.on('unhandledRejection', onRejection).on('uncaughtException', onException);
  void stopped.then(() => process.off('unhandledRejection', onRejection).off('uncaughtException', onException));
}

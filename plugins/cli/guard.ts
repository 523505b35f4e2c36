import { logOf } from '../../kernel/index.ts';
import type { Booted, LogFile } from './contract.ts';

/** What nothing caught: a rejection is logged; an exception ends the gateway in order, for nobody knows what it left half done. */
export function guard({ stop, stopped }: Booted, { sink }: LogFile) {
  const log = logOf(sink);
  const onRejection = (error: unknown) => log.error(`unhandled rejection: ${String(error)}`, { error });
  const onException = (error: unknown) => {
    log.error(`uncaught exception: ${String(error)}`, { error });
    void stop('an uncaught exception', 1);
  };
  process.on('unhandledRejection', onRejection).on('uncaughtException', onException);
  void stopped.then(() => process.off('unhandledRejection', onRejection).off('uncaughtException', onException));
}

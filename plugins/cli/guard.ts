import { AsyncLocalStorage } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import { isCoded, logOf, messageOf } from '../../kernel/index.ts';
import { type LogFile, type Origin, originChannel } from './contract.ts';
import type { FaultDesk } from './fault-desk.ts';
import { openRepeats } from './repeats.ts';

/**
 * What nothing caught, such as a plugin's timer that throws, is told and the gateway goes on: one plugin must not end the
 * work of all others. What it left half done is its own; our own state is rows and files, written whole or not at all.
 */
export function guard({ sink }: LogFile, desk: FaultDesk): Disposable {
  const log = logOf(sink);
  const isTold = openRepeats();
  const origins = new AsyncLocalStorage<Origin>();
  channel(originChannel).bindStore(origins);

  function tell(what: string, code: string, error: unknown) {
    const found = desk.blame(error, origins.getStore()?.plugin);
    const isNamed = isCoded(error) && error.facts?.plugin !== undefined; // then its code and message say it all
    const message = isNamed ? error.message : `${what}: ${messageOf(error)}`;
    if (found) desk.note({ ...found, code: isNamed ? error.code : code, message });
    const times = isTold(JSON.stringify([found?.plugin, found?.place ?? message.replace(/\d+/g, '#')]));
    if (times === undefined) return;
    const who = found && !isNamed ? `plugin "${found.plugin}" ` : '';
    const where = found?.place ? ` (${found.place})` : '';
    const often = times === 1 ? '' : `; so far ${times} times`;
    log.error(`${who}${message}${where}; the gateway goes on${often}`, { error, code });
  }
  const onRejection = (error: unknown) => tell('left a rejection unhandled', 'UNHANDLED_REJECTION', error);
  const onException = (error: unknown) => tell('threw and nothing caught it', 'UNCAUGHT_EXCEPTION', error);
  process.on('unhandledRejection', onRejection).on('uncaughtException', onException);
  return {
    [Symbol.dispose]() {
      channel(originChannel).unbindStore(origins);
      process.off('unhandledRejection', onRejection).off('uncaughtException', onException);
    },
  };
}

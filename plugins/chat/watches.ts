import { addAbortListener } from 'node:events';
import type { Leasable } from '../../kernel/index.ts';
import type { Events } from '../events/contract.ts';
import type { Client } from '../gateway/contract.ts';

type Watch = ReturnType<Events['watch']>;

/** Which client watches what; one watch each. A lease: sockets outlive reloads, so what they watch does too. */
export interface Watches extends Leasable {
  start(client: Client, events: Events, filter: Parameters<Events['watch']>[0]): Pick<Watch, 'cursor' | 'missed'>;
  stop(client: Client): boolean;
}

export function openWatches(): Watches {
  const watches = new Map<string, { readonly watch: Watch; readonly leaving: Disposable }>();
  const stop = (id: string) => {
    const known = watches.get(id);
    known?.watch.stop();
    known?.leaving[Symbol.dispose]();
    return watches.delete(id);
  };
  return {
    start(client, events, filter) {
      stop(client.id);
      const watch = events.watch(filter, (event) => client.send('live', event));
      const { cursor, missed } = watch;
      if (client.signal.aborted) watch.stop();
      else watches.set(client.id, { watch, leaving: addAbortListener(client.signal, () => stop(client.id)) });
      return { cursor, missed };
    },
    stop: (client) => stop(client.id),
    resume() {}, // holds nothing of the outside world
    async [Symbol.asyncDispose]() {
      for (const id of watches.keys()) stop(id);
    },
  };
}

import type { Client } from './client.ts';
import type { CommandHost } from './contract.ts';
import { type Reached, reach } from './reach.ts';

/** One connection at a time, made anew where the gateway that it led to has left. */
export interface Link {
  client(): Promise<Client>;
  /** The connection that stands now, if one does. */
  readonly current: Client | undefined;
  leave(): Promise<void>;
}

export function openLink(host: CommandHost, greet: (client: Client) => Promise<unknown> = async () => {}): Link {
  let reached: Reached | undefined;
  return {
    get current() {
      return reached?.client.lost.aborted ? undefined : reached?.client;
    },
    async client() {
      if (reached && !reached.client.lost.aborted) return reached.client;
      await reached?.own?.stop('its connection is lost');
      reached = await reach(host);
      await greet(reached.client);
      return reached.client;
    },
    async leave() {
      await reached?.leave();
    },
  };
}

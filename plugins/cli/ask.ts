import type { CommandHost } from './contract.ts';
import { reach } from './reach.ts';

/** `CommandHost.ask`: the gateway of no other process comes and goes with the call. */
export async function ask<T>(host: Omit<CommandHost, 'ask'>, method: string, params?: Readonly<Record<string, unknown>>): Promise<T> {
  const { client, leave } = await reach(host);
  try {
    return await client.call<T>(method, params);
  } finally {
    await leave();
  }
}

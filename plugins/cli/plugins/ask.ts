import type { CommandHost } from '../contract.ts';
import { reach } from '../reach.ts';

/** One call of the running gateway, else of one that comes and goes with the command. */
export async function ask<T>(host: CommandHost, method: string, params?: Readonly<Record<string, unknown>>): Promise<T> {
  const { client, leave } = await reach(host);
  try {
    return await client.call<T>(method, params);
  } finally {
    await leave();
  }
}

import { type Log, messageOf } from '../../kernel/index.ts';
import type { Store } from '../store/contract.ts';
import type { Sessions } from './contract.ts';
import { expiredRows } from './session-rows.ts';

/**
 * Removes stateless clients' sessions once they are older than their time to live; not one whose turn begins meanwhile. One
 * that cannot be removed is tried again at the next sweep, and keeps none of the others.
 */
export async function sweepEphemeral(store: Store, sessions: Sessions, ttlMs: number, log: Log, now = Date.now()) {
  const expired = await store.tx((t) => expiredRows(t, now - ttlMs));
  for (const { key } of expired) {
    await sessions.remove(key, now - ttlMs).catch((error: unknown) => {
      log.warn(`session "${key}" has expired and cannot be removed: ${messageOf(error)}`, { sessionKey: key });
    });
  }
}

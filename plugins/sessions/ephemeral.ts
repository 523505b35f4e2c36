import type { Store } from '../store/contract.ts';
import type { Sessions } from './contract.ts';
import { expiredRows } from './session-rows.ts';

/** Removes stateless clients' sessions once they are older than their time to live; not one whose turn begins meanwhile. */
export async function sweepEphemeral(store: Store, sessions: Sessions, ttlMs: number, now = Date.now()) {
  const expired = await store.tx((t) => expiredRows(t, now - ttlMs));
  for (const { key } of expired) await sessions.remove(key, now - ttlMs);
}

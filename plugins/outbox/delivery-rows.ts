import type { Row, Tx } from '../store/contract.ts';
import type { Delivery, SendResult } from './contract.ts';

/** `state`: waiting, delivered, expired (nobody is there any more), dead (given up; listed and retryable by hand). */
export const tables = [
  `CREATE TABLE outbox (
     id TEXT PRIMARY KEY, item_id TEXT NOT NULL UNIQUE, route TEXT NOT NULL, session_key TEXT NOT NULL, payloads TEXT NOT NULL,
     meta TEXT NOT NULL, state TEXT NOT NULL, attempt INTEGER NOT NULL, created_at INTEGER NOT NULL, settled_at INTEGER, why TEXT) STRICT;
   CREATE INDEX outbox_waiting ON outbox (state) WHERE state = 'waiting'`,
];

const delivery = (row: Row): Delivery => ({
  id: String(row.id),
  itemId: String(row.item_id),
  route: String(row.route),
  sessionKey: String(row.session_key),
  payloads: JSON.parse(String(row.payloads)),
  meta: JSON.parse(String(row.meta)),
  attempt: Number(row.attempt),
});

export async function insertRow(t: Tx, d: Delivery, now: number) {
  const { id, itemId, route, sessionKey, payloads, meta } = d;
  const sql = "INSERT INTO outbox VALUES (?, ?, ?, ?, ?, ?, 'waiting', 0, ?, NULL, NULL)";
  await t.run(sql, id, itemId, route, sessionKey, JSON.stringify(payloads), JSON.stringify(meta), now);
}

export async function rowOfItem(t: Tx, itemId: string): Promise<Delivery | undefined> {
  const row = await t.get('SELECT * FROM outbox WHERE item_id = ?', itemId);
  return row && delivery(row);
}

export const openRows = async (t: Tx) => (await t.all("SELECT * FROM outbox WHERE state = 'waiting' ORDER BY created_at")).map(delivery);

const states: Readonly<Record<SendResult['kind'], string>> = { delivered: 'delivered', gone: 'expired', retry: 'waiting', failed: 'dead' };

export async function settleRow(t: Tx, id: string, result: SendResult, attempt: number, now: number) {
  const state = states[result.kind];
  const why = 'why' in result ? result.why : null;
  const settled = state === 'waiting' ? null : now;
  await t.run('UPDATE outbox SET state = ?, why = ?, attempt = ?, settled_at = ? WHERE id = ?', state, why, attempt, settled, id);
}

export async function pruneRows(t: Tx, settledBefore: number) {
  await t.run("DELETE FROM outbox WHERE state <> 'waiting' AND settled_at < ?", settledBefore);
}

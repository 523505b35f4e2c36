import type { Row, Tx } from '../store/contract.ts';
import type { Delivery, OutboxRow, SendResult } from './contract.ts';

/** `state`: waiting; delivered; joined (another row carries the answer); expired (nobody is there any more); dead (given up); dropped (by hand). */
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

export async function insertRow(t: Tx, d: Delivery, state: 'waiting' | 'joined', now: number) {
  const { id, itemId, route, sessionKey, payloads, meta } = d;
  const settled = state === 'waiting' ? null : now;
  const sql = 'INSERT INTO outbox VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, NULL)';
  await t.run(sql, id, itemId, route, sessionKey, JSON.stringify(payloads), JSON.stringify(meta), state, now, settled);
}

export async function rowOfItem(t: Tx, itemId: string): Promise<Delivery | undefined> {
  const row = await t.get('SELECT * FROM outbox WHERE item_id = ?', itemId);
  return row && delivery(row);
}

/** In the order in which they were written, whatever the clock said: a rowid is above all that are there. */
export const openRows = async (t: Tx) => (await t.all("SELECT * FROM outbox WHERE state = 'waiting' ORDER BY rowid")).map(delivery);

const stateAfter: Readonly<Record<SendResult['kind'], string>> = {
  delivered: 'delivered',
  gone: 'expired',
  retry: 'waiting',
  failed: 'dead',
};

/** False where the row has its end, e.g. was dropped meanwhile. One that was given up may turn out to have got through. */
export async function settleRow(t: Tx, id: string, result: SendResult, attempt: number, now: number): Promise<boolean> {
  const state = stateAfter[result.kind];
  const why = 'why' in result ? result.why : null;
  const settled = state === 'waiting' ? null : now;
  const open = result.kind === 'delivered' ? "('waiting', 'dead')" : "('waiting')";
  const sql = `UPDATE outbox SET state = ?, why = ?, attempt = ?, settled_at = ? WHERE id = ? AND state IN ${open}`;
  return (await t.run(sql, state, why, attempt, settled, id)).changes > 0;
}

export interface RowQuery {
  readonly states: readonly string[];
  readonly limit: number;
}

/** Newest first. */
export async function listRows(t: Tx, { states, limit }: RowQuery): Promise<readonly OutboxRow[]> {
  const sql = `SELECT * FROM outbox WHERE state IN (${states.map(() => '?').join(', ')}) ORDER BY rowid DESC LIMIT ?`;
  return (await t.all(sql, ...states, limit)).map((row) => ({
    ...delivery(row),
    state: String(row.state) as OutboxRow['state'],
    why: row.why === null ? undefined : String(row.why),
    createdAt: Number(row.created_at),
    settledAt: row.settled_at === null ? undefined : Number(row.settled_at),
  }));
}

/** A row that came to its end without its answer being sent waits again, from its first attempt. */
export async function reopenRow(t: Tx, id: string): Promise<Delivery | undefined> {
  const sql =
    "UPDATE outbox SET state = 'waiting', attempt = 0, settled_at = NULL WHERE id = ? AND state IN ('dead', 'expired', 'dropped')";
  if ((await t.run(sql, id)).changes === 0) return undefined;
  const row = await t.get('SELECT * FROM outbox WHERE id = ?', id);
  return row && delivery(row);
}

export async function dropRow(t: Tx, id: string, now: number): Promise<boolean> {
  const sql = "UPDATE outbox SET state = 'dropped', settled_at = ? WHERE id = ? AND state IN ('waiting', 'dead', 'expired')";
  return (await t.run(sql, now, id)).changes > 0;
}

/** The state of the one row whose id begins so; its whole id, as people type the first characters. */
export async function rowsLike(t: Tx, start: string): Promise<readonly { readonly id: string; readonly state: string }[]> {
  return t.all('SELECT id, state FROM outbox WHERE substr(id, 1, length(?)) = ? LIMIT 2', start, start);
}

export async function pruneRows(t: Tx, settledBefore: number) {
  await t.run("DELETE FROM outbox WHERE state <> 'waiting' AND settled_at < ?", settledBefore);
}

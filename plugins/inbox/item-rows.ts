import type { Row, Tx } from '../store/contract.ts';
import type { Arrival, InboxItem, Receipt } from './contract.ts';

/** `state`: open until its turn ended, then done, failed or cancelled. What runs now only memory knows. */
export const tables = [
  `CREATE TABLE inbox (
     item_id TEXT PRIMARY KEY, session_key TEXT NOT NULL, arrival TEXT NOT NULL, idempotency_key TEXT UNIQUE, state TEXT NOT NULL,
     attempt INTEGER NOT NULL, enqueued_at INTEGER NOT NULL, finished_at INTEGER, run_id TEXT) STRICT;
   CREATE INDEX inbox_open ON inbox (enqueued_at) WHERE state = 'open'`,
];

const item = (row: Row): InboxItem => ({
  ...(JSON.parse(String(row.arrival)) as Arrival),
  itemId: String(row.item_id),
  enqueuedAt: Number(row.enqueued_at),
  attempt: Number(row.attempt),
});

export async function insertItem(t: Tx, { itemId, enqueuedAt, attempt, ...arrival }: InboxItem) {
  const sql = "INSERT INTO inbox VALUES (?, ?, ?, ?, 'open', ?, ?, NULL, NULL)";
  await t.run(sql, itemId, arrival.sessionKey, JSON.stringify(arrival), arrival.idempotencyKey ?? null, attempt, enqueuedAt);
}

export async function itemOfKey(t: Tx, idempotencyKey: string): Promise<Omit<Receipt, 'known'> | undefined> {
  const row = await t.get('SELECT item_id, state FROM inbox WHERE idempotency_key = ?', idempotencyKey);
  return row && { itemId: String(row.item_id), state: String(row.state) };
}

export async function finishItem(t: Tx, itemId: string, state: string, runId: string | null, now: number) {
  const done = await t.run(
    "UPDATE inbox SET state = ?, run_id = ?, finished_at = ? WHERE item_id = ? AND state = 'open'",
    state,
    runId,
    now,
    itemId,
  );
  return done.changes > 0;
}

/** What a process left behind. Counts the start: an item whose attempt is over 1 may have begun before. */
export async function takeUp(t: Tx): Promise<readonly InboxItem[]> {
  await t.run("UPDATE inbox SET attempt = attempt + 1 WHERE state = 'open'");
  return (await t.all("SELECT * FROM inbox WHERE state = 'open' ORDER BY enqueued_at, rowid")).map(item);
}

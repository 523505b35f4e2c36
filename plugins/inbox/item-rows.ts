import { createHash } from 'node:crypto';
import type { Row, Tx } from '../store/contract.ts';
import type { Arrival, InboxItem, QueueMode, Receipt } from './contract.ts';

/** `state`: open until its turn ended, then done, failed, refused or cancelled. What runs now only memory knows. */
export const tables = [
  `CREATE TABLE inbox (
     item_id TEXT PRIMARY KEY, session_key TEXT NOT NULL, arrival TEXT NOT NULL, idempotency_key TEXT UNIQUE, state TEXT NOT NULL,
     attempt INTEGER NOT NULL, enqueued_at INTEGER NOT NULL, finished_at INTEGER, run_id TEXT) STRICT;
   CREATE INDEX inbox_open ON inbox (enqueued_at) WHERE state = 'open'`,
  'CREATE TABLE inbox_modes (session_key TEXT PRIMARY KEY, mode TEXT NOT NULL) STRICT',
  'ALTER TABLE inbox ADD COLUMN fingerprint TEXT',
];

const item = (row: Row): InboxItem => ({
  ...(JSON.parse(String(row.arrival)) as Arrival),
  itemId: String(row.item_id),
  enqueuedAt: Number(row.enqueued_at),
  attempt: Number(row.attempt),
});

export async function insertItem(t: Tx, { itemId, enqueuedAt, attempt, ...arrival }: InboxItem) {
  const key = arrival.idempotencyKey ?? null;
  const sql = "INSERT INTO inbox VALUES (?, ?, ?, ?, 'open', ?, ?, NULL, NULL, ?)";
  const print = key === null ? null : fingerprintOf(arrival);
  await t.run(sql, itemId, arrival.sessionKey, JSON.stringify(arrival), key, attempt, enqueuedAt, print);
}

/** The item of a key. `isOther`: the key came with another message, or to another place. */
export async function itemOfKey(t: Tx, arrival: Arrival): Promise<(Omit<Receipt, 'known'> & { readonly isOther: boolean }) | undefined> {
  if (!arrival.idempotencyKey) return undefined;
  const row = await t.get('SELECT item_id, state, fingerprint FROM inbox WHERE idempotency_key = ?', arrival.idempotencyKey);
  if (!row) return undefined;
  const isOther = row.fingerprint !== null && row.fingerprint !== fingerprintOf(arrival); // null: of a release that had none
  return { itemId: String(row.item_id), state: String(row.state), isOther };
}

/** By what a key is held to one message. A session that lives for one request has a new name each time. */
function fingerprintOf({ agentId, sessionKey, ephemeral, content, history = [], model }: Arrival): string {
  const said = history.map((message) => [message.role, message.content]);
  const facts = [agentId, ephemeral ? null : sessionKey, content, said, model ?? null];
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64');
}

/** What was said is the transcript's from now on: the row stays for its key alone. */
export async function finishItem(t: Tx, itemId: string, state: string, runId: string | null, now: number) {
  const key = state === 'refused' ? ', idempotency_key = NULL' : ''; // what was not taken may be sent again
  const sql = `UPDATE inbox SET state = ?, run_id = ?, finished_at = ?, arrival = '{}'${key} WHERE item_id = ? AND state = 'open'`;
  await t.run(sql, state, runId, now, itemId);
}

export async function pruneItems(t: Tx, finishedBefore: number) {
  await t.run("DELETE FROM inbox WHERE state <> 'open' AND finished_at < ?", finishedBefore);
}

/**
 * What a process left behind, as it came: a rowid is above all that are there, and a clock may step back. Any of it may
 * have begun before: the attempt is at least the second.
 */
export async function takeUp(t: Tx): Promise<readonly InboxItem[]> {
  const left = await t.all("SELECT * FROM inbox WHERE state = 'open' ORDER BY rowid");
  return left.map((row) => item({ ...row, attempt: Number(row.attempt) + 1 }));
}

/** Counted where a turn begins again, so that what only waits behind one that crashes is not taken for it. */
export async function countAttempt(t: Tx, { itemId, attempt }: InboxItem) {
  await t.run('UPDATE inbox SET attempt = ? WHERE item_id = ?', attempt, itemId);
}

/** What `/queue` said in a session. */
export async function modeOf(t: Tx, sessionKey: string): Promise<QueueMode | undefined> {
  const row = await t.get('SELECT mode FROM inbox_modes WHERE session_key = ?', sessionKey);
  return row?.mode as QueueMode | undefined;
}

export async function setMode(t: Tx, sessionKey: string, mode: QueueMode | undefined) {
  if (!mode) await t.run('DELETE FROM inbox_modes WHERE session_key = ?', sessionKey);
  else await t.run('INSERT INTO inbox_modes VALUES (?, ?) ON CONFLICT (session_key) DO UPDATE SET mode = excluded.mode', sessionKey, mode);
}

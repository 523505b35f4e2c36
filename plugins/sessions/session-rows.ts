import type { Row, Tx } from '../store/contract.ts';
import type { SessionRecord } from './contract.ts';

/** The index of sessions. The transcripts are files; this only finds them. */
export const tables = [
  `CREATE TABLE sessions (
     key TEXT PRIMARY KEY, session_id TEXT NOT NULL, agent_id TEXT NOT NULL, title TEXT NOT NULL,
     created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, ephemeral INTEGER NOT NULL) STRICT;
   CREATE INDEX sessions_updated ON sessions (ephemeral, updated_at)`,
];

const record = (row: Row): SessionRecord => ({
  key: String(row.key),
  sessionId: String(row.session_id),
  agentId: String(row.agent_id),
  title: String(row.title),
  createdAt: Number(row.created_at),
  updatedAt: Number(row.updated_at),
  ephemeral: row.ephemeral === 1,
});

export async function findRow(t: Tx, key: string): Promise<SessionRecord | undefined> {
  const row = await t.get('SELECT * FROM sessions WHERE key = ?', key);
  return row && record(row);
}

export async function putRow(t: Tx, s: SessionRecord) {
  await t.run(
    'INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?)',
    s.key,
    s.sessionId,
    s.agentId,
    s.title,
    s.createdAt,
    s.updatedAt,
    s.ephemeral ? 1 : 0,
  );
}

/** False where it is not there, or was used since. */
export async function deleteRow(t: Tx, key: string, unusedSince = Number.MAX_SAFE_INTEGER): Promise<boolean> {
  const { changes } = await t.run('DELETE FROM sessions WHERE key = ? AND updated_at < ?', key, unusedSince);
  return changes > 0;
}

/** Newest first; ephemeral ones are left out. */
export async function listRows(t: Tx, agentId: string | undefined, limit: number): Promise<readonly SessionRecord[]> {
  const sql = 'SELECT * FROM sessions WHERE ephemeral = 0 AND (?1 IS NULL OR agent_id = ?1) ORDER BY updated_at DESC LIMIT ?2';
  return (await t.all(sql, agentId ?? null, limit)).map(record);
}

export async function expiredRows(t: Tx, before: number): Promise<readonly SessionRecord[]> {
  return (await t.all('SELECT * FROM sessions WHERE ephemeral = 1 AND updated_at < ?', before)).map(record);
}

import { existsSync, renameSync, rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { KernelError } from '../../kernel/index.ts';
import type { Tx } from './contract.ts';

export const versionsTable = 'CREATE TABLE IF NOT EXISTS schema_versions (owner TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT';

const versionOf = (db: DatabaseSync, owner: string) =>
  (db.prepare('SELECT version FROM schema_versions WHERE owner = ?').get(owner)?.version as number | undefined) ?? 0;

/** Before older tables are changed, the whole file is copied beside it. A copy has its name only once it is whole. */
export function backUp(db: DatabaseSync, file: string, owner: string, target: number) {
  const version = versionOf(db, owner);
  if (version === 0 || version >= target) return;
  const copy = `${file}.${owner}-v${version}.bak`;
  if (existsSync(copy)) return;
  rmSync(`${copy}.part`, { force: true });
  db.prepare('VACUUM INTO ?').run(`${copy}.part`);
  renameSync(`${copy}.part`, copy);
}

/** Brings one owner's tables up to date, in the open transaction. */
export async function migrate(t: Tx, file: string, owner: string, steps: readonly string[]) {
  const row = await t.get<{ version: number }>('SELECT version FROM schema_versions WHERE owner = ?', owner);
  const version = row?.version ?? 0;
  if (version === steps.length) return;
  if (version > steps.length) {
    const what = `${file}: the tables of "${owner}" have version ${version}, this release knows ${steps.length}`;
    throw new KernelError('STORE_NEWER', `${what}; run the newer release, or restore a backup`, { plugin: owner });
  }
  for (const step of steps.slice(version)) for (const sql of step.split(';')) if (sql.trim()) await t.run(sql);
  await t.run(
    'INSERT INTO schema_versions VALUES (?, ?) ON CONFLICT (owner) DO UPDATE SET version = excluded.version',
    owner,
    steps.length,
  );
}

import { existsSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { KernelError, messageOf } from '../../kernel/index.ts';
import type { Cell, Store, Tx } from './contract.ts';

interface Waiting {
  readonly work: (t: Tx) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The state folder's rows. One connection, one transaction at a time, in the order they were asked for. */
export function openStore(file: string): Store & AsyncDisposable {
  const db = connect(file);
  const statements = new Map<string, StatementSync>();
  const waiting: Waiting[] = [];
  let flushing: Promise<void> | undefined;

  const prepared = (sql: string) => {
    const known = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  const t: Tx = {
    run: async (sql, ...params) => {
      const { changes, lastInsertRowid } = prepared(sql).run(...params);
      return { changes: Number(changes), lastId: Number(lastInsertRowid) };
    },
    get: async <R>(sql: string, ...params: Cell[]) => prepared(sql).get(...params) as R | undefined,
    all: async <R>(sql: string, ...params: Cell[]) => prepared(sql).all(...params) as R[],
  };

  /** One piece of work inside the open transaction; a throw undoes it alone. */
  async function piece({ work, resolve, reject }: Waiting): Promise<() => void> {
    prepared('SAVEPOINT piece').run();
    try {
      const result = await work(t);
      prepared('RELEASE piece').run();
      return () => resolve(result);
    } catch (error) {
      if (!db.isTransaction) throw error; // SQLite gave up the whole transaction, e.g. on a full disk
      db.exec('ROLLBACK TO piece; RELEASE piece');
      return () => reject(error);
    }
  }

  /**
   * What comes in one turn of the event loop is committed together: a commit costs more than the statements in it.
   * Nobody hears of success before it.
   */
  async function flush() {
    while (waiting.length) {
      await new Promise(setImmediate);
      const group = waiting.splice(0);
      try {
        prepared('BEGIN IMMEDIATE').run();
        const settle: (() => void)[] = [];
        for (const each of group) settle.push(await piece(each));
        prepared('COMMIT').run();
        for (const tell of settle) tell();
      } catch (cause) {
        if (db.isTransaction) prepared('ROLLBACK').run();
        for (const { reject } of group) reject(unusable(file, cause));
      }
    }
    flushing = undefined;
  }

  /** Once nothing is being committed. */
  async function idle(): Promise<void> {
    if (!flushing) return;
    await flushing;
    await idle();
  }

  const store: Store = {
    tx: <T>(work: (t: Tx) => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        waiting.push({ work, resolve: resolve as Waiting['resolve'], reject });
        flushing ??= flush();
      }),
    async migrate(owner, steps) {
      await idle(); // a copy cannot be made inside a transaction
      backUp(db, file, owner, steps.length);
      await store.tx((open) => migrate(open, file, owner, steps));
    },
  };
  return {
    ...store,
    async [Symbol.asyncDispose]() {
      await idle();
      db.close();
    },
  };
}

function connect(file: string): DatabaseSync {
  try {
    const db = new DatabaseSync(file);
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON');
    db.exec('CREATE TABLE IF NOT EXISTS schema_versions (owner TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT');
    return db;
  } catch (cause) {
    throw unusable(file, cause);
  }
}

const unusable = (file: string, cause: unknown) =>
  new KernelError('STORE_UNUSABLE', `${file}: ${messageOf(cause)}; check that the state folder is writable and the disk not full`, {
    cause,
  });

const versionOf = (db: DatabaseSync, owner: string) =>
  (db.prepare('SELECT version FROM schema_versions WHERE owner = ?').get(owner)?.version as number | undefined) ?? 0;

/** Before older tables are changed, the whole file is copied beside it. */
function backUp(db: DatabaseSync, file: string, owner: string, target: number) {
  const version = versionOf(db, owner);
  if (version === 0 || version >= target) return;
  const copy = `${file}.${owner}-v${version}.bak`;
  if (!existsSync(copy)) db.prepare('VACUUM INTO ?').run(copy);
}

/** Brings one owner's tables up to date, in the open transaction. */
async function migrate(t: Tx, file: string, owner: string, steps: readonly string[]) {
  const row = await t.get<{ version: number }>('SELECT version FROM schema_versions WHERE owner = ?', owner);
  const version = row?.version ?? 0;
  if (version > steps.length) {
    const what = `${file}: the tables of "${owner}" have version ${version}, this release knows ${steps.length}`;
    throw new KernelError('STORE_NEWER', `${what}; run the newer release, or restore a backup`);
  }
  for (const step of steps.slice(version)) for (const sql of step.split(';')) if (sql.trim()) await t.run(sql);
  await t.run(
    'INSERT INTO schema_versions VALUES (?, ?) ON CONFLICT (owner) DO UPDATE SET version = excluded.version',
    owner,
    steps.length,
  );
}

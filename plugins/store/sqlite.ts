import { chmodSync, closeSync, openSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { KernelError, type Log } from '../../kernel/index.ts';
import type { Cell, Store, Tx } from './contract.ts';
import { storeError, unusable } from './failure.ts';
import { insistent } from './insist.ts';
import { backUp, migrate, versionsTable } from './migration.ts';

interface Waiting {
  readonly work: (t: Tx) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** As its plugin has it. */
export interface OwnStore extends Store, AsyncDisposable {
  /** Aborts when the process is to end at once: what is tried again until there is room is given up then. */
  endsWith(signal: AbortSignal): void;
}

/** The state folder's rows. One connection, one transaction at a time, in the order they were asked for. */
export function openStore(file: string, log: Log): OwnStore {
  const db = connect(file);
  const statements = new Map<string, StatementSync>();
  const waiting: Waiting[] = [];
  let ending = new AbortController().signal;
  let flushing: Promise<void> | undefined;

  const prepared = (sql: string) => {
    const known = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  /** A piece that went on after SQLite gave up the transaction would write outside any. */
  const inside = (sql: string) => {
    if (db.isTransaction) return prepared(sql);
    throw new KernelError('STORE_UNUSABLE', `${file}: the transaction is over; use \`t\` only inside \`tx\`, and let its errors through`);
  };
  const t: Tx = {
    run: async (sql, ...params) => {
      const { changes, lastInsertRowid } = inside(sql).run(...params);
      return { changes: Number(changes), lastId: Number(lastInsertRowid) };
    },
    get: async <R>(sql: string, ...params: Cell[]) => inside(sql).get(...params) as R | undefined,
    all: async <R>(sql: string, ...params: Cell[]) => inside(sql).all(...params) as R[],
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
      return () => reject(storeError(file, error));
    }
  }

  const rollBack = () => {
    if (db.isTransaction) prepared('ROLLBACK').run();
  };

  /** All or none, in one transaction. Nobody hears of success before the commit. */
  async function commit(group: readonly Waiting[]) {
    try {
      rollBack(); // of one that could not be rolled back before
      prepared('BEGIN IMMEDIATE').run();
      const settle: (() => void)[] = [];
      for (const each of group) settle.push(await piece(each));
      prepared('COMMIT').run();
      for (const tell of settle) tell();
    } catch (cause) {
      for (const { reject } of group) reject(unusable(file, cause));
      rollBack();
    }
  }

  /** What comes in one turn of the event loop is committed together: a commit costs more than the statements in it. */
  async function flush() {
    while (waiting.length) {
      await new Promise(setImmediate);
      await commit(waiting.splice(0)).catch((error: unknown) => log.error(`${file}: a transaction could not be rolled back`, { error }));
    }
    flushing = undefined;
  }

  /** Once nothing is being committed. */
  async function idle(): Promise<void> {
    if (!flushing) return;
    await flushing;
    await idle();
  }

  const tx: Store['tx'] = <T>(work: (t: Tx) => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      if (!db.isOpen) return reject(new KernelError('STORE_CLOSED', `${file} was closed: the gateway has ended`));
      waiting.push({ work, resolve: resolve as Waiting['resolve'], reject });
      flushing ??= flush();
    });

  return {
    tx,
    insist: insistent(tx, log, () => ending),
    endsWith: (signal) => (ending = signal),
    async migrate(owner, steps) {
      await idle(); // a copy cannot be made inside a transaction
      backUp(db, file, owner, steps.length);
      await tx((open) => migrate(open, file, owner, steps));
    },
    async [Symbol.asyncDispose]() {
      await idle();
      db.close();
    },
  };
}

function connect(file: string): DatabaseSync {
  try {
    closeSync(openSync(file, 'a', 0o600)); // what SQLite puts beside it takes its mode
    chmodSync(file, 0o600); // it holds keys and conversations
    const db = new DatabaseSync(file);
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON');
    db.exec(versionsTable);
    return db;
  } catch (cause) {
    throw unusable(file, cause);
  }
}

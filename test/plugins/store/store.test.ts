import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { definePlugin } from '../../../kernel/index.ts';
import { type LogRecord, logOf } from '../../../kernel/log.ts';
import { Store, type Store as StoreContract } from '../../../plugins/store/contract.ts';
import storePlugin from '../../../plugins/store/index.ts';
import { openStore } from '../../../plugins/store/sqlite.ts';
import { entry, testKernel } from '../../../plugins/testing/kit.ts';

async function folder() {
  const path = await mkdtemp(join(tmpdir(), 'instar-store-'));
  const file = join(path, 'state.db');
  const records: LogRecord[] = [];
  const open = () =>
    openStore(
      file,
      logOf((record) => records.push(record)),
    );
  return { path, file, records, open, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}
const create = 'CREATE TABLE t (n INTEGER) STRICT';

test('transactions run one at a time, and a throw rolls one back', async () => {
  await using f = await folder();
  await using store = f.open();
  await store.migrate('t', [create]);
  const add = (n: number, fails = false) =>
    store.tx(async (t) => {
      await t.run('INSERT INTO t VALUES (?)', n);
      if (fails) throw new Error('no');
    });
  const done = await Promise.allSettled([add(1), add(2, true), add(3)]);
  expect(done.map((d) => d.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await store.tx((t) => t.all('SELECT n FROM t'))).toMatchObject([{ n: 1 }, { n: 3 }]);
});

test('an upgrade runs only the missing steps, after a backup', async () => {
  await using f = await folder();
  {
    await using store = f.open();
    await store.migrate('t', [create]);
    await store.tx((t) => t.run('INSERT INTO t VALUES (7)'));
  }
  await using store = f.open();
  await store.migrate('t', [create, 'ALTER TABLE t ADD COLUMN m INTEGER']);
  expect(await store.tx((t) => t.all('SELECT n, m FROM t'))).toMatchObject([{ n: 7, m: null }]);
  expect(await readdir(f.path)).toContain('state.db.t-v1.bak');
});

test('a plugin whose tables are newer rejects its own candidate, and not the one that comes after', async () => {
  const owner = (steps: readonly string[], codeHash: string) => {
    const setup = async (ctx: { readonly needs: { readonly store: StoreContract } }) => ctx.needs.store.migrate('mine', steps);
    return { plugin: definePlugin({ name: 'mine', description: 'has rows', needs: { store: Store }, setup }), codeHash, source: 'test' };
  };
  await using t = await testKernel({ plugins: [storePlugin, owner(['SELECT 1', 'SELECT 2'], 'new').plugin] });
  const apply = (one: ReturnType<typeof owner>) => t.kernel.apply({ plugins: [entry(storePlugin), one], config: {} });
  await expect(apply(owner(['SELECT 1'], 'older'))).rejects.toMatchObject({ message: expect.stringContaining('run the newer release') });
  expect(await apply(owner(['SELECT 1', 'SELECT 2'], 'newer'))).toMatchObject({ built: [{ plugin: 'mine' }] });
});

test('tables of a newer release are refused with what to do', async () => {
  await using f = await folder();
  await using store = f.open();
  await store.migrate('t', [create, 'SELECT 1']);
  await expect(store.migrate('t', [create])).rejects.toMatchObject({
    code: 'STORE_NEWER',
    message: expect.stringContaining('run the newer release'),
  });
});

test('a folder that cannot be written is one clear error', () => {
  expect(() =>
    openStore(
      '/proc/nowhere/state.db',
      logOf(() => {}),
    ),
  ).toThrow(/check that the state folder is writable/);
});

/** A store that holds one table, and no more than this many pages from now on. */
async function crowded(f: Awaited<ReturnType<typeof folder>>) {
  const store = f.open();
  await store.migrate('t', ['CREATE TABLE t (n INTEGER UNIQUE, filler BLOB) STRICT']);
  const pages = (count: number) => store.tx((t) => t.get(`PRAGMA max_page_count = ${count}`));
  const add = (n: number, bytes = 0) => store.tx((t) => t.run('INSERT INTO t VALUES (?, zeroblob(?))', n, bytes));
  const kept = async () => (await store.tx((t) => t.all<{ n: number }>('SELECT n FROM t ORDER BY n'))).map(({ n }) => n);
  return { store, fill: () => pages(1), free: () => pages(1_000_000), add, kept };
}
const statuses = (results: readonly PromiseSettledResult<unknown>[]) => results.map(({ status }) => status);

test('of what is committed together a piece that breaks a rule is undone alone, and keeps its own error', async () => {
  await using f = await folder();
  const { store, add, kept } = await crowded(f);
  await using _closed = store;
  const done = await Promise.allSettled([add(1), add(1), add(2)]);
  expect(statuses(done)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(done[1]).toMatchObject({ reason: { code: 'ERR_SQLITE_ERROR', message: expect.stringContaining('UNIQUE') } });
  expect(await kept()).toEqual([1, 2]);
});

test('a full disk rejects all that would have been committed together, and the store goes on once there is room', async () => {
  await using f = await folder();
  const { store, add, fill, free, kept } = await crowded(f);
  await using _closed = store;
  await fill();
  const done = await Promise.allSettled([add(1), add(2, 100_000), add(3)]);
  expect(statuses(done)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(done[0]).toMatchObject({ reason: { code: 'STORE_UNUSABLE', message: expect.stringContaining('the disk not full') } });
  await free();
  await add(4, 100_000);
  expect(await kept()).toEqual([4]);
});

test('a piece that goes on after SQLite gave up the transaction writes nothing', async () => {
  await using f = await folder();
  const { store, fill, kept } = await crowded(f);
  await using _closed = store;
  await fill();
  const stubborn = store.tx(async (t) => {
    await t.run('INSERT INTO t VALUES (1, zeroblob(100000))').catch(() => {});
    await t.run('INSERT INTO t VALUES (2, NULL)');
  });
  await expect(stubborn).rejects.toMatchObject({ code: 'STORE_UNUSABLE' });
  expect(await kept()).toEqual([]);
});

test('what must be written is tried until there is room, and loudly', async () => {
  await using f = await folder();
  const { store, fill, free, kept } = await crowded(f);
  await using _closed = store;
  await fill();
  const ending = new AbortController();
  store.endsWith(ending.signal);
  const insisted = store.insist((t) => t.run('INSERT INTO t VALUES (1, zeroblob(100000))'));
  await expect.poll(() => f.records.length, { interval: 5 }).toBe(1);
  await free();
  await insisted;
  expect(await kept()).toEqual([1]);
  expect(f.records).toMatchObject([
    { level: 'error', message: expect.stringContaining('tried again until there is room') },
    { level: 'info', message: expect.stringContaining('can be written again') },
  ]);

  await fill();
  const given = store.insist((t) => t.run('INSERT INTO t VALUES (2, zeroblob(900000))'));
  await expect.poll(() => f.records.length, { interval: 5 }).toBe(3);
  ending.abort();
  await expect(given).rejects.toMatchObject({ code: 'STORE_UNUSABLE' });
});

test('once it is closed nothing is tried again', async () => {
  await using f = await folder();
  const { store } = await crowded(f);
  const last = store.tx((t) => t.run('INSERT INTO t VALUES (1, NULL)'));
  await store[Symbol.asyncDispose]();
  await last;
  await expect(store.insist((t) => t.run('SELECT 1'))).rejects.toMatchObject({ code: 'STORE_CLOSED' });
});

test('what is wrong with the work itself is not tried again', async () => {
  await using f = await folder();
  const { store, add } = await crowded(f);
  await using _closed = store;
  await add(1);
  await expect(store.insist((t) => t.run('INSERT INTO t VALUES (1, NULL)'))).rejects.toThrow(/UNIQUE/);
  expect(f.records).toEqual([]);
});

test('nothing hears of success before the commit, and a failing commit rejects all', async () => {
  await using f = await folder();
  const { store, kept } = await crowded(f);
  await using _closed = store;
  await store.migrate('late', [
    'CREATE TABLE p (id INTEGER PRIMARY KEY) STRICT; CREATE TABLE c (p INTEGER REFERENCES p DEFERRABLE INITIALLY DEFERRED) STRICT',
  ]);
  // A deferred rule is looked at by COMMIT alone: every piece before it has succeeded.
  const done = await Promise.allSettled([
    store.tx((t) => t.run('INSERT INTO t VALUES (1, NULL)')),
    store.tx((t) => t.run('INSERT INTO c VALUES (9)')),
    store.tx((t) => t.run('INSERT INTO t VALUES (2, NULL)')),
  ]);
  expect(statuses(done)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(await kept()).toEqual([]);
  await store.tx((t) => t.run('INSERT INTO t VALUES (3, NULL)'));
  expect(await kept()).toEqual([3]);
});

test('nobody else’s eyes: the database and what SQLite puts beside it, also where an older one was open to all', async () => {
  await using f = await folder();
  await writeFile(f.file, '', { mode: 0o644 });
  await using store = f.open();
  await store.migrate('t', [create]);
  const modeOf = async (name: string) => ((await stat(join(f.path, name))).mode & 0o777).toString(8);
  const modes = Promise.all((await readdir(f.path)).toSorted().map(async (name) => [name, await modeOf(name)]));
  expect(await modes).toEqual(['state.db', 'state.db-shm', 'state.db-wal'].map((name) => [name, '600']));
});

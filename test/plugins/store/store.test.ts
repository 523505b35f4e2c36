import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../../plugins/store/sqlite.ts';

async function folder() {
  const path = await mkdtemp(join(tmpdir(), 'instar-store-'));
  return { path, file: join(path, 'state.db'), [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}
const create = 'CREATE TABLE t (n INTEGER) STRICT';

test('transactions run one at a time, and a throw rolls one back', async () => {
  await using f = await folder();
  await using store = openStore(f.file);
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
    await using store = openStore(f.file);
    await store.migrate('t', [create]);
    await store.tx((t) => t.run('INSERT INTO t VALUES (7)'));
  }
  await using store = openStore(f.file);
  await store.migrate('t', [create, 'ALTER TABLE t ADD COLUMN m INTEGER']);
  expect(await store.tx((t) => t.all('SELECT n, m FROM t'))).toMatchObject([{ n: 7, m: null }]);
  expect(await readdir(f.path)).toContain('state.db.t-v1.bak');
});

test('tables of a newer release are refused with what to do', async () => {
  await using f = await folder();
  await using store = openStore(f.file);
  await store.migrate('t', [create, 'SELECT 1']);
  await expect(store.migrate('t', [create])).rejects.toMatchObject({
    code: 'STORE_NEWER',
    message: expect.stringContaining('run the newer release'),
  });
});

test('a folder that cannot be written is one clear error', () => {
  expect(() => openStore('/proc/nowhere/state.db')).toThrow(/check that the state folder is writable/);
});

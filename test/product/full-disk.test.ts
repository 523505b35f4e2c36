import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync, writeSync, openSync, closeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { instar, startGateway, tempHome, withMock } from '../support/instar.ts';
import { startMock } from '../support/mock-model.ts';

/** A disk of its own, 6 MB large; undefined where this machine lets nobody make one. */
function smallDisk() {
  const path = mkdtempSync(join(tmpdir(), 'instar-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', path], { stdio: 'ignore' });
  } catch {
    rmSync(path, { recursive: true });
    return undefined;
  }
  const filler = join(path, 'filler');
  return {
    path,
    fill() {
      const file = openSync(filler, 'w');
      for (const size of [65_536, 4096, 512])
        try {
          for (;;) writeSync(file, Buffer.alloc(size));
        } catch {
          // full
        }
      closeSync(file);
    },
    free: () => rmSync(filler, { force: true }),
    [Symbol.dispose]() {
      execFileSync('umount', ['-l', path]);
      rmSync(path, { recursive: true });
    },
  };
}

const isAble = (() => {
  using disk = smallDisk();
  return disk !== undefined;
})();

test.runIf(isAble)(
  'a full disk is told to who sends, loses no answer, and is over once there is room, without a restart',
  {
    timeout: 60_000,
  },
  async () => {
    using disk = smallDisk()!;
    await using mock = await startMock();
    writeFileSync(join(disk.path, 'instar.json5'), JSON.stringify(withMock(mock.url, disk.path)));
    mkdirSync(join(disk.path, 'ws'));
    const home = disk.path;
    await using gateway = await startGateway(home);
    expect(await instar(home, ['agent', '--message', '[[reply:one]]'])).toMatchObject({ stdout: expect.stringContaining('one') });

    const underWay = instar(home, ['agent', '--message', '[[hold]] two']);
    await expect.poll(() => mock.requests.length, { interval: 20, timeout: 10_000 }).toBe(2);
    disk.fill();
    const refused = await instar(home, ['agent', '--session', 'other', '--message', 'never read']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/^instar: STORE_UNUSABLE: .*state\.db: database or disk is full; check .*\n$/);
    mock.release();
    await expect.poll(() => gateway.out.stderr, { interval: 50, timeout: 15_000 }).toMatch(/until there is room|once there is room/);
    disk.free();
    expect(await underWay).toMatchObject({ code: 0, stdout: expect.stringContaining('echo') });
    expect((await instar(home, ['agent', '--message', '[[reply:three]]'])).stdout).toContain('three');
    expect((await instar(home, ['inbox', 'list'])).stdout).toContain('Nothing runs');
  },
);

test.runIf(isAble)(
  'a command on a full or read-only state folder ends with one line that names the folder and what to do',
  {
    timeout: 30_000,
  },
  async () => {
    using disk = smallDisk()!;
    disk.fill();
    const line = /^instar: STATE_UNUSABLE: the state folder \S+ cannot be written \(.*\); make room on its disk, or mend its rights, .*\n$/;
    const full = await instar(disk.path, ['start', '--port', '0']);
    expect([full.code, full.stdout]).toEqual([1, '']);
    expect(full.stderr).toMatch(line);
    disk.free();
    execFileSync('mount', ['-o', 'remount,ro', disk.path]);
    const readOnly = await instar(disk.path, ['agent', '--message', 'hi']);
    expect(readOnly.code).toBe(1);
    expect(readOnly.stderr).toMatch(line);
    execFileSync('mount', ['-o', 'remount,rw', disk.path]);
    expect((await instar(disk.path, ['agent', '--message', 'hi'])).code).toBe(0);
  },
);

test('state of a newer release is refused whosever it is, and left as it is; an older one is brought up to date after a backup', {
  timeout: 60_000,
}, async () => {
  using place = tempHome();
  const { home } = place;
  const hello = () => instar(home, ['agent', '--message', 'hello']);
  expect((await hello()).code).toBe(0);
  const file = join(home, 'state.db');
  const inState = (sql: string) => {
    const db = new DatabaseSync(file);
    db.exec(sql);
    db.close();
  };
  // Of a plugin without which the rest could run as well: what it kept (here, limits of spending) would count no more.
  inState("UPDATE schema_versions SET version = version + 90 WHERE owner = 'budget'");
  const { code, stderr } = await hello();
  expect(code).toBe(78);
  expect(stderr).toMatch(/^instar: BOOT_FAILED: .*tables of "budget" have version 9\d, this release knows .*\n$/);
  inState("UPDATE schema_versions SET version = version - 90 WHERE owner = 'budget'");
  inState(
    "UPDATE schema_versions SET version = 1 WHERE owner = 'inbox'; DROP TABLE inbox_modes; ALTER TABLE inbox DROP COLUMN fingerprint",
  );
  expect((await hello()).code).toBe(0);
  const copy = new DatabaseSync(`${file}.inbox-v1.bak`, { readOnly: true });
  expect(copy.prepare("SELECT version FROM schema_versions WHERE owner = 'inbox'").get()).toEqual({ version: 1 });
  copy.close();
});

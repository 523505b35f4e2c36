import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readHolder, takeLock } from '../../kernel/host/lock.ts';
import { folder } from './folder.ts';

const module = join(import.meta.dirname, '../../kernel/host/lock.ts');

/** Another process that takes the lock, says whether it got it, and then waits to be killed. */
async function contender(home: string) {
  const script = `
    const { takeLock } = await import(${JSON.stringify(module)});
    const lock = takeLock(process.argv[1], 'gateway');
    lock?.announce({ url: 'http://127.0.0.1:1' });
    process.stdout.write(lock ? 'has it' : 'has it not');
    if (lock) setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, home], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  const kill = async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  return { child, has: String(said) === 'has it', [Symbol.asyncDispose]: kill };
}

test('one process owns a state folder, others are told who, and SIGKILL frees it at once', async () => {
  await using home = await folder();
  const first = await contender(home.path);
  await using second = await contender(home.path);
  expect([first.has, second.has]).toEqual([true, false]);
  expect(takeLock(home.path, 'command')).toBeUndefined();
  expect(readHolder(home.path)).toMatchObject({ pid: first.child.pid, mode: 'gateway', url: 'http://127.0.0.1:1' });

  await first[Symbol.asyncDispose]();
  const lock = takeLock(home.path, 'command');
  expect(readHolder(home.path)).toMatchObject({ pid: process.pid, mode: 'command' });
  expect(readHolder(home.path)).not.toHaveProperty('url'); // the dead holder's word is gone
  lock?.release();
});

test('of many that try at once exactly one gets it', async () => {
  await using home = await folder();
  const all = await Promise.all([1, 2, 3, 4].map(() => contender(home.path)));
  expect(all.filter(({ has }) => has)).toHaveLength(1);
  await Promise.all(all.map((one) => one[Symbol.asyncDispose]()));
});

test('a lock that was let go can be taken again, even by the same process', async () => {
  await using home = await folder();
  const lock = takeLock(home.path, 'gateway');
  expect(takeLock(home.path, 'gateway')).toBeUndefined();
  lock?.release();
  lock?.release();
  expect(readHolder(home.path)).toBeUndefined();
  const again = takeLock(home.path, 'gateway');
  expect(again).toBeDefined();
  again?.release();
});

test('what a holder announces is for its user alone', async () => {
  await using home = await folder();
  const lock = takeLock(join(home.path, 'new'), 'gateway');
  const mode = (file: string) => (statSync(file).mode & 0o777).toString(8);
  expect([mode(home.at('new')), mode(home.at('new/gateway.json'))]).toEqual(['700', '600']);
  lock?.release();
});

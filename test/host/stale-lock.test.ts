import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readHolder, takeLock } from '../../kernel/host/lock.ts';
import { folder } from './folder.ts';

test.each([
  ['is dead', 2 ** 22 + 1],
  ['now names another process', process.ppid],
])('the word of a killed holder blocks nobody, whether its pid %s', async (_, pid) => {
  await using home = await folder();
  writeFileSync(
    home.at('gateway.json'),
    JSON.stringify({ pid, mode: 'gateway', started: new Date().toISOString(), url: 'http://127.0.0.1:1' }),
  );
  writeFileSync(home.at('lock.db'), ''); // the file it held is still there, as SIGKILL leaves it
  const lock = takeLock(home.path, 'gateway');
  expect(lock).toBeDefined();
  expect(readHolder(home.path)).toMatchObject({ pid: process.pid });
  lock?.release();
});

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import watch from '../../../plugins/watch/index.ts';
import { bootTest, plugin } from '../../support/kernel.ts';

const watchers = () => process.getActiveResourcesInfo().filter((what) => what === 'FSEventWrap').length;

test('the folder of plugins is made before it is watched: for one that is not there all beside it would be', async () => {
  await using t = await bootTest([watch, plugin('other', () => {})]);
  await expect.poll(watchers, { interval: 5, timeout: 10_000 }).toBe(2); // the home for its files, the folder
  const folder = join(t.home, 'plugins');
  await rm(folder, { recursive: true });
  await t.reload('other');
  await expect.poll(() => existsSync(folder), { interval: 5, timeout: 10_000 }).toBe(true);
});

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { start } from './booted.ts';
import { folder } from './folder.ts';

const root = join(import.meta.dirname, '../..');
const configFile = join(root, 'examples/first-config.json5');

test('SPEC 16.2: the careful agent of the first config is not offered exec', async () => {
  await using home = await folder();
  await using gateway = await start(home, { configFile });
  const offered = (agent: string) =>
    gateway.run(async (run) => (await run.tools()).tools.map(({ name }) => name), { subject: { agent, sender: 'owner' } });
  expect(await offered('main')).toEqual(expect.arrayContaining(['exec', 'read']));
  expect(await offered('careful')).not.toContain('exec');
});

test.each(globSync('examples/**/*.json5', { cwd: root }))('SPEC 16.2: a gateway runs with %s, and nothing is left out', async (file) => {
  await using home = await folder();
  await using gateway = await start(home, { configFile: join(root, file) });
  expect(gateway.notices).toEqual([]);
  expect((await gateway.inspect()).leftOut).toEqual([]);
});

test('the plugin that the README shows is the one in examples', () => {
  const [, shown] = /```ts\n(.*?)```/s.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? [];
  expect(shown).toBe(readFileSync(join(root, 'examples/plugins/dice/index.ts'), 'utf8'));
});

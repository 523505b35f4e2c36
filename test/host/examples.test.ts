import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { start } from './booted.ts';
import { folder } from './folder.ts';

const root = join(import.meta.dirname, '../..');
const configFile = join(root, 'examples/first-config.json5');
const folders = globSync('examples/**/index.{ts,js}', { cwd: root }).map((file) => dirname(file));

test('SPEC 16.2: the first config runs with the first plugin, whose tool an agent can call', async () => {
  await using home = await folder();
  await using gateway = await start(home, { configFile });
  const { leftOut, instances } = await gateway.inspect();
  expect(leftOut).toEqual([]);
  expect(instances.find(({ plugin }) => plugin === 'first-plugin')?.source).toContain('examples/first-plugin/index.ts');
  const subject = { agent: 'main', sender: 'owner' } as const;
  const result = await gateway.run((run) => run.callTool({ id: '1', name: 'roll_dice', args: { count: 3 } }), { subject });
  expect(result).toEqual({ content: [{ type: 'text', text: expect.stringMatching(/^[1-6] [1-6] [1-6]$/) }] });
});

test('SPEC 16.2: its careful agent is not offered exec', async () => {
  await using home = await folder();
  await using gateway = await start(home, { configFile });
  const offered = (agent: string) =>
    gateway.run(async (run) => (await run.tools()).tools.map(({ name }) => name), { subject: { agent, sender: 'owner' } });
  expect(await offered('main')).toEqual(expect.arrayContaining(['exec', 'read', 'roll_dice']));
  expect(await offered('careful')).not.toContain('exec');
});

test.each(globSync('examples/**/*.json5', { cwd: root }))('SPEC 16.2: a gateway runs with %s, and nothing is left out', async (file) => {
  await using home = await folder();
  await using gateway = await start(home, { configFile: join(root, file) });
  expect(gateway.notices).toEqual([]);
  expect((await gateway.inspect()).leftOut).toEqual([]);
});

/** With the plugins beside it, for it may use one. */
test.each(folders)('SPEC 16.2: the plugin %s goes live', async (path) => {
  await using home = await folder({ 'instar.json5': JSON.stringify({ plugins: { paths: [join(root, dirname(path))] } }) });
  await using gateway = await start(home);
  const { leftOut, instances } = await gateway.inspect();
  expect(leftOut).toEqual([]);
  expect(instances.map(({ plugin }) => plugin)).toContain(basename(path));
});

test('the plugin that the README shows is the one in examples', () => {
  const [, shown] = /```ts\n(.*?)```/s.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? [];
  expect(shown).toBe(readFileSync(join(root, 'examples/first-plugin/index.ts'), 'utf8'));
});

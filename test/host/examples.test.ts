import { join } from 'node:path';
import { expect, test } from 'vitest';
import { start } from './booted.ts';
import { folder } from './folder.ts';

const configFile = join(import.meta.dirname, '../../examples/first-config.json5');

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

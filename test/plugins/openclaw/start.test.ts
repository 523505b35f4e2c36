import { expect, test } from 'vitest';
import { start } from '../../host/booted.ts';
import { folder } from '../../host/folder.ts';

const plugins = `plugins: {
  enabled: true, allow: ['telegram'], deny: [], slots: { memory: 'memory-core' }, load: { paths: ['~/x'] }, installs: {},
  entries: { telegram: { enabled: true }, web: { enabled: false, hooks: {} }, 'voice-call': { config: { provider: 'twilio' } }, odd: true },
}`;

test('SPEC 1.6: plugins of OpenClaw are passed over, and ours are switched by name', async () => {
  await using home = await folder({ 'openclaw.json': `{ ${plugins} }` });
  await using gateway = await start(home, { configFile: home.at('openclaw.json') });
  const { instances, leftOut } = await gateway.inspect();
  expect(leftOut).toEqual([]);
  expect(instances.map(({ plugin }) => plugin)).not.toContain('web');
});

test('in a config of ours they are faults', async () => {
  await using home = await folder({ 'instar.json5': `{ ${plugins} }` });
  await expect(start(home)).rejects.toMatchObject({ code: 'BOOT_FAILED', message: expect.stringContaining('plugins.allow: unknown key') });
});

test.each(["{ plugins: 'x' }", '{ plugins: { entries: [] } }', '{ plugins: { entries: { web: { enabled: 1 } } } }'])(
  '%s is a fault in both',
  async (text) => {
    await using home = await folder({ 'openclaw.json': text });
    await expect(start(home, { configFile: home.at('openclaw.json') })).rejects.toMatchObject({ code: 'BOOT_FAILED' });
  },
);

test('a variable that only a key without effect names is missed by nobody', async () => {
  await using home = await folder({
    'openclaw.json': "{ tools: { web: { x_search: { apiKey: '${UNSET}' } } }, channels: { telegram: { botToken: '${UNSET}' } } }",
  });
  await using gateway = await start(home, { configFile: home.at('openclaw.json') });
  expect((await gateway.inspect()).leftOut).toEqual([]);
});

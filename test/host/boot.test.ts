import { once } from 'node:events';
import { existsSync, readFileSync, watch } from 'node:fs';
import { expect, test } from 'vitest';
import { readHolder, takeLock } from '../../kernel/host/lock.ts';
import type { BootOptions } from '../../plugins/cli/contract.ts';
import { start } from './booted.ts';
import { type Folder, folder } from './folder.ts';

const faults = (home: Folder, options?: Partial<BootOptions>) =>
  start(home, options).then(
    () => expect.fail('it started'),
    (error: { code: string; message: string }) => [error.code, ...error.message.replaceAll(`${home.path}/`, '').split('\n')],
  );

test('SPEC 15.1: nothing is configured, and every bundled plugin is live', async () => {
  await using home = await folder();
  await using gateway = await start(home);
  const { instances, leftOut } = await gateway.inspect();
  expect(leftOut).toEqual([]);
  expect(instances.map(({ plugin }) => plugin)).toEqual(expect.arrayContaining(['gateway', 'chat', 'cli', 'model-demo']));
  expect(readHolder(home.path)).toMatchObject({ mode: 'gateway', url: expect.stringMatching(/^http:/), pid: process.pid });
});

test('U002: an unknown key stops the boot with file:line:column and the nearest key', async () => {
  await using home = await folder({ 'instar.json5': "{\n  agents: { list: [{ id: 'a', modle: 'x' }] },\n  gatewy: {},\n}" });
  expect(await faults(home)).toEqual([
    'BOOT_FAILED',
    expect.stringMatching(/^instar\.json5:3:3 gatewy: unknown key "gatewy" \(did you mean "gateway"\?\)$/),
    expect.stringMatching(/^instar\.json5:2:31 agents\.list\[0\]\.modle: unknown key "modle" \(did you mean "model"\?\)$/),
  ]);
  expect(takeLock(home.path, 'gateway')?.release()).toBeUndefined(); // it let go of the folder
});

test('U005: a variable that is not set stops the boot, and says which', async () => {
  await using home = await folder({ 'instar.json5': '{ gateway: { auth: { token: "${NOPE}" } } }' });
  expect(await faults(home)).toEqual([
    'BOOT_FAILED',
    expect.stringContaining('gateway.auth.token: the environment variable NOPE is not set'),
  ]);
});

test('a config that was live is kept, and stands in for one that does not parse, loudly', async () => {
  await using home = await folder({
    'instar.json5': "{ $include: 'more.json5' }",
    'more.json5': "{ agents: { list: [{ id: 'kept' }] } }",
  });
  {
    const watcher = watch(home.path);
    await using first = await start(home, { goodAfterMs: 1 });
    while (!existsSync(home.at('last-good.json'))) await once(watcher, 'change');
    watcher.close();
    expect(first.notices).toEqual([]);
  }
  await home.write({ 'more.json5': '{ agents: ' });
  await using second = await start(home, { goodAfterMs: 1 });
  expect(second.notices).toEqual([
    expect.stringContaining('more.json5:1:11: invalid end of input'),
    expect.stringMatching(/^running on the last known good config, of 20.*; mend the file, the edit is taken up at once$/),
  ]);
  const { Agents } = await import('../../plugins/agents/contract.ts');
  expect(await second.run((run) => run.get(Agents).ids)).toEqual(['kept']);
});

test('the last known good config of another file is not used', async () => {
  await using home = await folder({
    'instar.json5': '{',
    'last-good.json': JSON.stringify({ file: '/elsewhere', saved: '', texts: { '/elsewhere': '{}' } }),
  });
  expect(await faults(home)).toEqual(['BOOT_FAILED', expect.stringContaining('instar.json5:1:2')]);
});

test('U006: a fault in one provider block leaves that block out', async () => {
  const good = "p2: { baseUrl: 'http://127.0.0.1:9/v1', models: [{ id: 'm' }] }";
  await using home = await folder({
    'instar.json5': `{ models: { providers: { p1: { baseUrl: 'http://x', api: 'google-genai', models: [] }, ${good} } } }`,
  });
  await using gateway = await start(home);
  const { leftOut } = await gateway.inspect();
  expect(leftOut).toEqual([expect.objectContaining({ plugin: 'models.providers.p1', code: 'CONFIG_INVALID' })]);
});

test('U027: a user plugin that does not load, or throws in setup, is left out and the rest runs', async () => {
  await using home = await folder({
    'plugins/broken/index.ts': 'export default {',
    'plugins/throws/index.ts': "export default { name: 'throws', description: '', setup() { throw new Error('no luck') } }",
    'plugins/fine/index.ts': "export default { name: 'fine', description: '', setup() {} }",
  });
  const shown: string[] = [];
  await using gateway = await start(home, { show: (line) => shown.push(line) });
  const { instances, leftOut } = await gateway.inspect();
  expect(instances.map(({ plugin }) => plugin)).toContain('fine');
  expect(leftOut.map(({ plugin, code }) => [plugin, code])).toEqual([
    ['broken', 'PLUGIN_LOAD'],
    ['throws', 'SETUP_FAILED'],
  ]);
  expect(shown).toEqual([expect.stringContaining('plugin "broken" is left out'), expect.stringContaining('no luck')]);
});

test('a bundled plugin that is off is not live, and what it owns in the config is no fault', async () => {
  await using home = await folder({
    'instar.json5':
      "{ tools: { exec: { security: 'full' } }, plugins: { entries: { 'tools-exec': { enabled: false }, web: { enabled: false } } } }",
  });
  await using gateway = await start(home);
  const { instances, leftOut } = await gateway.inspect();
  const live = instances.map(({ plugin }) => plugin);
  expect(leftOut).toEqual([]);
  expect(live).not.toContain('tools-exec');
  expect(live).not.toContain('web');
});

test('a required plugin that fails stops the boot', async () => {
  await using home = await folder({ 'instar.json5': '{ gateway: { port: 1 } }' });
  const [code, line] = await faults(home, { flags: { port: '99999' } });
  expect(code).toBe('BOOT_FAILED');
  expect(line).toContain('99999');
});

test('the stop is asked once, waits for the runs, and frees the folder', async () => {
  await using home = await folder();
  const gateway = await start(home);
  const { promise, resolve } = Promise.withResolvers<void>();
  const order: string[] = [];
  const run = gateway.run(() => promise).then(() => order.push('run'));
  const stop = Promise.all([gateway.stop('one'), gateway.stop('two')]).then(() => order.push('stop'));
  resolve();
  await Promise.all([run, stop]);
  expect(order).toEqual(['run', 'stop']);
  expect(await gateway.stopped).toBe(0);
  expect(readHolder(home.path)).toBeUndefined();
  expect(readFileSync(home.at('logs/instar.log'), 'utf8')).toContain('"message":"stopping: one"');
});

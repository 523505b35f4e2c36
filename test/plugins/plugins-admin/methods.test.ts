import { mkdir, mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { check } from '../../../kernel/host/ownership.ts';
import { definePlugin, GenerationRejected, KernelError, service } from '../../../kernel/index.ts';
import { Methods } from '../../../plugins/gateway/contract.ts';
import type { PluginDetail, PluginList, Reloaded } from '../../../plugins/plugins-admin/contract.ts';
import admin from '../../../plugins/plugins-admin/index.ts';
import { bootTest, plugin, type TestKernel } from '../../support/kernel.ts';

const Tea = service<string>('test.tea');

const pot = definePlugin({
  name: 'pot',
  description: 'makes tea',
  config: { schema: { type: 'object', properties: { strength: { type: 'integer', default: 1 } } } },
  provides: [Tea],
  async setup(ctx) {
    ctx.provide(Tea, 'green');
    ctx.tap(Methods, (methods) => methods, 5);
    await ctx.lease('kettle', () => ({ async [Symbol.asyncDispose]() {} }));
  },
});
const broken = plugin('broken', () => Promise.reject(new KernelError('NO_WATER', 'the kettle is empty')));

async function call<T>({ kernel }: TestKernel, method: string, params: Record<string, unknown> = {}): Promise<T> {
  return kernel.run(async (run) => {
    const methods = await run.call(Methods, {});
    return (await methods[method]?.(params, {} as never, run)) as T;
  });
}

test('plugins.list tells what is live and what is left out, and why', async () => {
  await using t = await bootTest([admin, pot, broken]);
  const { generation, live, leftOut, retiring } = await call<PluginList>(t, 'plugins.list');
  expect([generation, live.map((one) => one.plugin), retiring]).toEqual([1, ['plugins-admin', 'pot'], []]);
  expect(leftOut).toMatchObject([{ plugin: 'broken', code: 'SETUP_FAILED', why: expect.stringContaining('the kettle is empty') }]);
});

test('plugins.inspect tells hooks with their stages, services, leases and where the config lies', async () => {
  await using t = await bootTest([admin, pot, broken]);
  const { live } = await call<PluginDetail>(t, 'plugins.inspect', { name: 'pot' });
  expect(live).toMatchObject({
    plugin: 'pot',
    source: 'test',
    since: 1,
    provides: ['test.tea'],
    leases: ['kettle'],
    configAt: 'plugins.entries.pot.config',
    hooks: [{ hook: 'gateway.methods', stage: 5 }],
  });
  expect(await call<PluginDetail>(t, 'plugins.inspect', { name: 'broken' })).toMatchObject({ leftOut: { plugin: 'broken' } });
});

test('a plugin on disk that waits for another to be mended is not unknown', async () => {
  await using home = await mkdtempDisposable(join(tmpdir(), 'instar-admin-'));
  await mkdir(join(home.path, 'plugins/waiting'), { recursive: true });
  await using t = await bootTest([admin, pot], {}, { home: home.path });
  const tell = (error: Error) => t.kernel.run((run) => run.call(GenerationRejected, { error, generation: 1 }));
  await expect(call(t, 'plugins.inspect', { name: 'waiting' })).rejects.toMatchObject({ code: 'PLUGIN_UNKNOWN' });
  await tell(new Error('dice/index.ts:3:9 Expression expected'));
  await expect(call(t, 'plugins.inspect', { name: 'waiting' })).rejects.toMatchObject({
    code: 'PLUGIN_WAITS',
    message: expect.stringMatching(/"waiting" is on disk, but the last change was rejected: dice\/index\.ts:3:9 .*; mend that first$/),
  });
  await expect(call(t, 'plugins.inspect', { name: 'nowhere' })).rejects.toMatchObject({ code: 'PLUGIN_UNKNOWN' });
});

test.each([
  [{}, 400, '"name" is missing'],
  [{ name: 7 }, 400, '"name" must be the name of a plugin'],
  [{ name: 'pott' }, 404, 'there is no plugin "pott", or it is switched off; did you mean "pot"?'],
])('plugins.inspect refuses %j', async (params, status, message) => {
  await using t = await bootTest([admin, pot]);
  await expect(call(t, 'plugins.inspect', params)).rejects.toMatchObject({ status, message });
});

test('plugins.reload answers with the swap, and knows whom it was asked for', async () => {
  await using t = await bootTest([admin, pot]);
  expect(await call<Reloaded>(t, 'plugins.reload')).toMatchObject({ generation: 1, built: [] });
  await expect(call(t, 'plugins.reload', { name: 'pott' })).rejects.toMatchObject({ status: 404, code: 'PLUGIN_UNKNOWN' });
});

test('a reload that is rejected is told as it is, with its code and no error of ours', async () => {
  let isBroken = false;
  await using t = await bootTest([admin, pot], {}, { check: { ...check, slice: (...all) => (isBroken ? fail() : check.slice(...all)) } });
  isBroken = true;
  await expect(call(t, 'plugins.reload')).rejects.toMatchObject({ status: 409, code: 'CONFIG_TEXT', message: 'instar.json5:1:1: no' });
  expect(t.kernel.inspect().generation).toBe(1);
});

const fail = (): never => {
  throw new KernelError('CONFIG_TEXT', 'instar.json5:1:1: no', { cause: new Error('deeper') });
};

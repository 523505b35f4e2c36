import { expect, test } from 'vitest';
import type { Plugin } from '../../../kernel/index.ts';
import { faultDesk } from '../../../plugins/cli/fault-desk.ts';
import type { Provisions } from '../../../plugins/cli/contract.ts';
import { Events } from '../../../plugins/events/contract.ts';
import events from '../../../plugins/events/index.ts';
import { type Fault, Faults, isPresent } from '../../../plugins/faults/contract.ts';
import faults from '../../../plugins/faults/index.ts';
import { Methods } from '../../../plugins/gateway/contract.ts';
import { bootTest, entry, plugin } from '../../support/kernel.ts';

/** A kernel whose reports go the way that they go in the product; short deadlines. */
async function boot(plugins: readonly Plugin[]) {
  const desk = faultDesk();
  const lines: string[] = [];
  const log = { sink: ({ message }: { message: string }) => void lines.push(message) };
  const { sink } = desk.around({ log } as unknown as Provisions).log;
  const t = await bootTest([events, faults, ...plugins], {}, { sink, setupMs: 30, disposeMs: 30 });
  desk.open(t.kernel.run);
  const list = () => t.kernel.run((run) => run.get(Faults).list());
  const told: string[] = [];
  await t.kernel.run((run) =>
    run.get(Events).watch({}, ({ type, data }) => void (type === 'plugin_fault' && told.push(String(data['code'])))),
  );
  return { ...t, list, lines, told };
}

const cases: readonly [what: string, setup: Plugin['setup'], Partial<Fault>][] = [
  [
    'a disposer that throws',
    (ctx) => ctx.defer(() => Promise.reject(new Error('the disk is gone'))),
    { code: 'DISPOSE_FAILED', message: 'a disposer threw: the disk is gone' },
  ],
  [
    'a disposer that hangs',
    (ctx) => ctx.defer(() => new Promise(() => {})),
    { code: 'DISPOSE_TIMEOUT', message: 'has a disposer that did not settle in 30 ms; it was left behind' },
  ],
  [
    'a lease that does not close',
    (ctx) => ctx.lease('bad:1', () => ({ [Symbol.asyncDispose]: () => new Promise<void>(() => {}) })).then(() => {}),
    { code: 'DISPOSE_TIMEOUT', message: 'lease "bad:1" did not close in 30 ms; it was left behind' },
  ],
  [
    'an onLive that throws',
    (ctx) => ctx.onLive(() => Promise.reject(new Error('no network'))),
    { code: 'HOOK_FAILED', message: 'failed in hook "onLive": no network' },
  ],
  [
    'an onLive that registers late',
    (ctx) => ctx.onLive(() => ctx.tap(Methods, (methods) => methods)),
    { code: 'PLUGIN_LATE', message: 'called tap after setup; what changes by itself belongs in a tap with a version' },
  ],
];

test.each(cases)('%s is a fault with its plugin, listed and told (SPEC 14)', async (_, setup, expected) => {
  await using t = await boot([]);
  await t.apply([events, faults, plugin('bad', setup)]);
  await t.apply([events, faults]);
  await expect.poll(t.list, { interval: 5 }).toMatchObject([{ plugin: 'bad', count: 1, ...expected }]);
  expect(t.told).toEqual([expected.code]);
  expect(t.lines.filter((line) => line.includes('"bad"'))).not.toEqual([]);
});

test('a setup that never settles, or throws, is a fault of the plugin that was live, and past once it is made anew', async () => {
  const good = plugin('p', () => {});
  const never = entry(
    plugin('p', () => new Promise(() => {})),
    '2',
  );
  await using t = await boot([good]);
  await expect(t.apply([events, faults, never])).rejects.toMatchObject({ code: 'SETUP_TIMEOUT' });
  await expect.poll(t.list, { interval: 5 }).toMatchObject([{ plugin: 'p', code: 'SETUP_TIMEOUT', generation: 1 }]);
  const since = () => t.kernel.inspect().instances.find((one) => one.plugin === 'p')?.since;
  const [fault] = await t.list();
  expect(fault && isPresent(fault, since())).toBe(true);
  await t.apply([events, faults, entry(good, '3')]);
  expect(fault && isPresent(fault, since())).toBe(false);
});

test('faults from before there was a gateway are kept for it, and outlive a reload of the plugin that keeps them', async () => {
  const desk = faultDesk();
  desk.note({ plugin: 'early', code: 'X', message: 'plugin "early" broke' });
  await using t = await bootTest([events, faults]);
  desk.open(t.kernel.run);
  await t.reload('faults');
  const ask = () => t.kernel.run(async (run) => (await run.call(Methods, {}))['plugins.faults']?.({}, {} as never, run));
  await expect.poll(ask, { interval: 5 }).toMatchObject({ faults: [{ plugin: 'early', message: 'broke' }] });
});

test('what a plugin writes into its log as an error is its own business', async () => {
  await using t = await boot([plugin('p', (ctx) => ctx.log.error('hm', { error: Object.assign(new Error('x'), { code: 'Y' }) }))]);
  expect(await t.list()).toEqual([]);
});

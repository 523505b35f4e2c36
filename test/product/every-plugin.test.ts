import { describe, expect, test } from 'vitest';
import type { Plugin } from '../../kernel/index.ts';
import { bundledPlugins, leakCheck, testKernel, type TestKernel } from '../../plugins/testing/kit.ts';
import { entry, plugin as anonymous } from '../support/kernel.ts';

const all = await bundledPlugins();

/** What a plugin needs, and what that needs, in the order of a start. */
function needsOf({ needs = {} }: Plugin): readonly Plugin[] {
  const ids = Object.values(needs).map(({ id }) => id);
  const direct = all.filter(({ provides = [] }) => provides.some(({ id }) => ids.includes(id)));
  const deep = new Set(direct.flatMap((one) => [...needsOf(one), one]));
  return all.filter((one) => deep.has(one));
}

const leasesOf = ({ kernel }: TestKernel) =>
  kernel
    .inspect()
    .leases.map(({ key, holders }) => `${key} × ${holders}`)
    .toSorted();
const numberOf = ({ kernel }: TestKernel, name: string) => kernel.inspect().instances.find((one) => one.plugin === name)?.instance;
const complaints = ({ records }: TestKernel) => records.filter(({ level }) => level === 'error' || level === 'warn');

const throwing = anonymous('sibling', () => Promise.reject(new Error('the sibling is broken')));
const sound = anonymous('sibling', () => {});

describe.for(all.map((one) => [one.name, one] as const))('%s', ([name, plugin]) => {
  const needed = needsOf(plugin);
  const plugins = [...needed, plugin];

  test('SPEC 14.1: starts alone with what it needs', async () => {
    await using t = await testKernel({ plugins });
    const { instances, leftOut } = t.kernel.inspect();
    expect(leftOut).toEqual([]);
    expect(instances.map((one) => one.plugin).toSorted()).toEqual(plugins.map((one) => one.name).toSorted());
    expect(complaints(t)).toEqual([]);
  });

  test('SPEC 14.2: 50 reloads leave no lease, timer, listener or handle', async () => {
    using leaks = leakCheck();
    await using t = await testKernel({ plugins });
    await t.reload(name); // what is loaded at the first use is there
    const watchers = () => process.getActiveResourcesInfo().filter((what) => what === 'FSEventWrap').length;
    if (name === 'watch') await expect.poll(watchers, { interval: 5, timeout: 10_000 }).toBe(2); // of the home and of its plugins: they come after a start
    const leases = leasesOf(t);
    leaks.mark();
    for (let i = 0; i < 50; i++) expect((await t.reload(name)).built.map((one) => one.plugin)).toEqual([name]);
    await expect.poll(() => t.kernel.inspect().retiring, { interval: 5, timeout: 20_000 }).toEqual([]);
    expect(leasesOf(t)).toEqual(leases);
    expect(await leaks.found(20_000)).toEqual([]);
    expect(complaints(t)).toEqual([]);
  });

  test('SPEC 14.2: a sibling that fails, at its start or at its next version, does not touch it', async () => {
    await using t = await testKernel({ plugins: [...plugins, throwing] });
    const number = numberOf(t, name);
    expect(number).toBeGreaterThan(0);
    expect(t.kernel.inspect().leftOut).toMatchObject([{ plugin: 'sibling', why: expect.stringContaining('the sibling is broken') }]);
    await t.apply([...plugins, entry(sound, '2')]);
    await expect(t.apply([...plugins, entry(throwing, '3')])).rejects.toMatchObject({ code: 'SETUP_FAILED' });
    expect([numberOf(t, name), numberOf(t, 'sibling')]).toEqual([number, expect.any(Number)]);
  });

  test('SPEC 14.2: it disappears without a trace', async () => {
    using leaks = leakCheck();
    await using t = await testKernel({ plugins: needed });
    const leases = leasesOf(t);
    await t.apply(plugins);
    await t.apply(needed);
    await expect.poll(() => t.kernel.inspect().retiring, { interval: 5, timeout: 20_000 }).toEqual([]);
    leaks.mark(); // what a library keeps for ever once it is loaded is there
    expect((await t.apply(plugins)).built.map((one) => one.plugin)).toEqual([name]);
    expect((await t.apply(needed)).removed).toEqual([name]);
    await expect.poll(() => t.kernel.inspect().retiring, { interval: 5, timeout: 20_000 }).toEqual([]);
    expect(leasesOf(t)).toEqual(leases);
    expect(await t.kernel.run((run) => plugin.provides?.filter((token) => run.find(token)) ?? [])).toEqual([]);
    expect(await leaks.found(20_000)).toEqual([]);
    expect(complaints(t)).toEqual([]);
  });
});

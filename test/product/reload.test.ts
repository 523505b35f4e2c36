import { expect, test } from 'vitest';
import { definePlugin } from '../../kernel/index.ts';
import { type Arrival, Inbox } from '../../plugins/inbox/contract.ts';
import { type Delivery, SendDelivery } from '../../plugins/outbox/contract.ts';
import { bundled, mockConfig } from '../support/bundled.ts';
import { entry, testKernel } from '../support/kernel.ts';
import { startMock } from '../support/mock-model.ts';

const counts = () =>
  Object.groupBy(
    process.getActiveResourcesInfo().filter((what) => what !== 'Immediate'),
    (what) => what,
  );
const tally = () => Object.fromEntries(Object.entries(counts()).map(([what, all]) => [what, all?.length]));

test('SPEC 14.2: every plugin is reloaded under load; no turn fails or doubles, no lease is doubled, nothing is left behind', async () => {
  await using mock = await startMock();
  await using t = await testKernel();
  const delivered: Delivery[] = [];
  const door = definePlugin({
    name: 'test-door',
    description: 'takes answers',
    setup: (ctx) =>
      ctx.tap(SendDelivery, (delivery) => {
        if (!delivery.route.startsWith('test:')) return undefined;
        delivered.push(delivery);
        return { kind: 'delivered' };
      }),
  });
  const plugins = [...(await bundled()), door];
  const versions = new Map(plugins.map((plugin) => [plugin.name, 0]));
  const apply = () =>
    t.kernel.apply({
      plugins: plugins.map((plugin) => entry(plugin, String(versions.get(plugin.name)))),
      config: { ...mockConfig(mock.url, t.home), messages: { queue: { cap: 1000 } } },
    });
  await apply();
  let asked = 0;
  const say = (session: string) => {
    const arrival: Arrival = {
      agentId: 'main',
      provenance: { kind: 'external_user' },
      subject: { channel: 'test', sender: 'owner' },
      sessionKey: `agent:main:${session}`,
      content: `message ${++asked}`,
      route: `test:${asked}`,
    };
    return t.kernel.run((run) => run.get(Inbox).enqueue(arrival));
  };
  await Promise.all([say('a'), say('b')]); // side by side, so that as many connections are open as later
  await expect.poll(() => delivered.length).toBe(2);
  const before = {
    leases: t.kernel
      .inspect()
      .leases.map((lease) => lease.key)
      .toSorted(),
    active: tally(),
  };
  for (let round = 0; round < 2; round++) {
    for (const { name } of plugins) {
      versions.set(name, round + 1);
      await Promise.all([say('a'), say('b'), apply()]);
    }
  }
  await expect.poll(() => delivered.length, { timeout: 20_000 }).toBe(asked);
  expect(new Set(delivered.map((delivery) => delivery.route)).size).toBe(asked);
  expect(delivered.filter((delivery) => delivery.meta.error)).toEqual([]);
  await expect.poll(() => t.kernel.inspect().retiring).toEqual([]);
  expect(t.kernel.inspect().generation).toBe(2 * plugins.length + 1);
  expect(
    t.kernel
      .inspect()
      .leases.map((lease) => lease.key)
      .toSorted(),
  ).toEqual(before.leases);
  expect(t.records.filter((record) => record.level === 'error')).toEqual([]);
  expect(tally()).toEqual(before.active);
});

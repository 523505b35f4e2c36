import { expect, test } from 'vitest';
import { definePlugin, given, Host } from '../../../kernel/index.ts';
import { check } from '../../../kernel/host/ownership.ts';
import { Kernel } from '../../../kernel/kernel.ts';
import { Events } from '../../../plugins/events/contract.ts';
import events from '../../../plugins/events/index.ts';

const entry = (plugin: ReturnType<typeof definePlugin>, codeHash = '1') => ({ plugin, codeHash, source: 'test' });

test('cursors and watchers outlive a reload of the plugin; swaps and rejected candidates are published', async () => {
  const kernel = new Kernel({ check, sink: () => {}, services: [given(Host, {} as Host)] });
  await kernel.apply({ plugins: [entry(events)], config: {} });
  const seen: { type: string; data: unknown }[] = [];
  const { cursor } = await kernel.run((run) => run.get(Events).watch({}, ({ type, data }) => void seen.push({ type, data })));

  await kernel.apply({ plugins: [entry(events, '2')], config: {} });
  const bad = definePlugin({
    name: 'bad',
    description: 'throws',
    required: true,
    setup() {
      throw new Error('no luck');
    },
  });
  await expect(kernel.apply({ plugins: [entry(events, '2'), entry(bad)], config: {} })).rejects.toMatchObject({ code: 'SETUP_FAILED' });
  expect(seen).toEqual([
    { type: 'generation_swapped', data: expect.objectContaining({ generation: 2 }) },
    { type: 'generation_rejected', data: { generation: 2, error: expect.stringContaining('no luck') } },
  ]);
  const replayed: string[] = [];
  const watch = await kernel.run((run) => run.get(Events).watch({ after: cursor }, (event) => void replayed.push(event.type)));
  expect({ missed: watch.missed, replayed }).toEqual({ missed: false, replayed: ['generation_swapped', 'generation_rejected'] });
  await kernel.drain();
});

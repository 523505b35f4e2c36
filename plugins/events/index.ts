import { definePlugin, GenerationRejected, GenerationSwapped, messageOf } from '../../kernel/index.ts';
import { Events } from './contract.ts';
import { openStream } from './stream.ts';

/** Some hundred turns, or the whole of a few very long ones. */
const limits = { events: 2_000, bytes: 4 * 1024 * 1024 };

export default definePlugin({
  name: 'events',
  description: 'What happens, as a bounded stream that can be replayed',
  provides: [Events],
  async setup(ctx) {
    const { log } = ctx;
    const failed = (error: unknown) => log.error('an event could not be told to one that watches', { error });
    const stream = await ctx.lease('events:stream', () => openStream(limits, failed));
    ctx.provide(Events, stream);
    ctx.tap(GenerationSwapped, (swap) => stream.publish({ type: 'generation_swapped', data: { ...swap } }));
    ctx.tap(GenerationRejected, ({ error, generation }) =>
      stream.publish({ type: 'generation_rejected', data: { generation, error: messageOf(error) } }),
    );
  },
});

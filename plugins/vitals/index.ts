import { definePlugin } from '../../kernel/index.ts';
import { Methods } from '../gateway/contract.ts';
import { Vitals } from './contract.ts';
import { openWatch } from './watch.ts';

export default definePlugin({
  name: 'vitals',
  description: 'Tells how busy and how large the process is: event loop delay, memory, processor time',
  provides: [Vitals],
  async setup(ctx) {
    const watch = await ctx.lease('vitals', openWatch);
    ctx.provide(Vitals, watch);
    ctx.tap(Methods, (methods) => ({ ...methods, 'vitals.read': () => watch.read() }));
    ctx.onLive(() => watch.start());
  },
});

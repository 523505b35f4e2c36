import { join } from 'node:path';
import { CheckGeneration, definePlugin, Host } from '../../kernel/index.ts';
import { Store } from './contract.ts';
import { openStore } from './sqlite.ts';

export default definePlugin({
  name: 'store',
  description: 'Rows that survive process death, in the state folder',
  required: true,
  needs: { host: Host },
  provides: [Store],
  async setup(ctx) {
    const file = join(ctx.needs.host.home, 'state.db');
    const store = await ctx.lease(`store:${file}`, () => openStore(file, ctx.log));
    ctx.provide(Store, store);
    // Running on without the plugin whose rows a newer release wrote is no downgrade.
    ctx.tap(CheckGeneration, ({ leftOut }) => leftOut.find(({ code }) => code === 'STORE_NEWER')?.why);
    // A run without a signal of its own ends with the process, and not before.
    ctx.onLive(() => void ctx.run(({ signal }) => store.endsWith(signal)));
  },
});

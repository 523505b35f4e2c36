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
    ctx.tap(CheckGeneration, () => store.newer());
  },
});

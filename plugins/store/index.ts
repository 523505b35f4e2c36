import { join } from 'node:path';
import { definePlugin, Host } from '../../kernel/index.ts';
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
    ctx.provide(Store, await ctx.lease(`store:${file}`, () => openStore(file, ctx.log)));
  },
});

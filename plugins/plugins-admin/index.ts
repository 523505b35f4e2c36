import { definePlugin, GenerationRejected, GenerationSwapped, type Leasable, messageOf } from '../../kernel/index.ts';
import { Methods } from '../gateway/contract.ts';
import { pluginMethods, type Rejection } from './methods.ts';

export default definePlugin({
  name: 'plugins-admin',
  description: 'Lists, inspects and reloads plugins for the page and the terminal',
  async setup(ctx) {
    // A lease: what was rejected is known to whoever comes after it.
    const last = await ctx.lease('plugins-admin.rejection', async (): Promise<Rejection & Leasable> => {
      return { why: undefined, resume() {}, async [Symbol.asyncDispose]() {} };
    });
    ctx.tap(GenerationRejected, ({ error }) => {
      last.why = messageOf(error);
    });
    ctx.tap(GenerationSwapped, () => {
      last.why = undefined;
    });
    ctx.tap(Methods, (methods) => ({ ...methods, ...pluginMethods(last) }));
  },
});

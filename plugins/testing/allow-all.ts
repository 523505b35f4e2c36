import { DecideTool, definePlugin } from '../../kernel/index.ts';

/** Lets every call pass that no other plugin stops. Without it, or the plugin `policy`, each call is denied. */
export const allowAll = definePlugin({
  name: 'allow-all',
  description: 'test',
  setup: (ctx) => ctx.tap(DecideTool, () => ({ kind: 'allow' }) as const),
});

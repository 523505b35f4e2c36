import { definePlugin, SelectRuntime } from '../../kernel/index.ts';
import { embedded } from './loop.ts';
import { schema, settingsOf } from './settings.ts';

export default definePlugin({
  name: 'runtime-embedded',
  description: 'The loop of model and tools, inside this process',
  config: { schema },
  setup(ctx) {
    const runtime = { id: 'embedded', turn: embedded(settingsOf(ctx.config), ctx.log) };
    ctx.tap(SelectRuntime, () => runtime, 100); // whatever knows better answers first
  },
});

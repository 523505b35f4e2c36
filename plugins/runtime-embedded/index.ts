import { definePlugin, SelectRuntime } from '../../kernel/index.ts';
import { embeddedTurn } from './loop.ts';

export default definePlugin({
  name: 'runtime-embedded',
  description: 'The loop of model and tools, inside this process',
  setup(ctx) {
    const runtime = { id: 'embedded', turn: embeddedTurn };
    ctx.tap(SelectRuntime, () => runtime, 100); // whatever knows better answers first
  },
});

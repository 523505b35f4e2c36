import { definePlugin, GenerationSwapped, Host } from '../../kernel/index.ts';
import { Methods } from '../gateway/contract.ts';
import { liveMethod, openLiveTexts, reloadMethod } from './config/methods.ts';

/** The commands themselves are clients of a gateway (`main.ts`, `commands.json`); in a generation they have what they ask it. */
export default definePlugin({
  name: 'cli',
  description: 'The commands of the terminal: start, chat, agent, status, plugins, config, logs, doctor, stop',
  async setup(ctx) {
    const live = await ctx.lease('config.live', openLiveTexts);
    ctx.tap(GenerationSwapped, (_, run) => live.take(run.get(Host).sources().config), -1000); // soon, for the files may change again
    ctx.tap(Methods, (methods) => ({ ...methods, 'config.live': liveMethod(live), 'config.reload': reloadMethod }));
  },
});

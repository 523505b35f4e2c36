import { definePlugin, RegisterTools, type Tool } from 'instar';

export default definePlugin({
  name: 'tool-log',
  description: 'A wrapper of all tools: logs each call, how long it took and how it ended',
  setup(ctx) {
    const { log } = ctx;
    const logged = (tool: Tool): Tool => ({
      ...tool,
      async execute(args, call) {
        const began = performance.now();
        // Names of arguments only: what they hold may be private.
        const facts = () => ({ arguments: Object.keys(args), run: call.run.id, ms: Math.round(performance.now() - began) });
        try {
          const result = await tool.execute(args, call);
          log.info(`${tool.name} ${result.isError ? 'said no' : 'is done'}`, facts());
          return result;
        } catch (error) {
          log.warn(`${tool.name} broke`, { ...facts(), error });
          throw error;
        }
      },
    });
    // A late stage: after the plugins that bring tools, wherever they stand.
    ctx.tap(RegisterTools, (tools) => tools.map(logged), { stage: 100 });
  },
});

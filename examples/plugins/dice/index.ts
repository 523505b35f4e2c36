import { definePlugin, defineTool, RegisterTools, text } from 'instar';

const dice = defineTool({
  name: 'roll_dice',
  description: 'Rolls dice and tells each number',
  parameters: { type: 'object', properties: { count: { type: 'integer', minimum: 1, maximum: 20 } }, required: ['count'] },
  execute: ({ count }) => text(Array.from({ length: count }, () => 1 + Math.floor(Math.random() * 6)).join(' ')),
});

export default definePlugin({
  name: 'dice',
  description: 'One tool: dice',
  setup(ctx) {
    ctx.tap(RegisterTools, (tools) => [...tools, dice]);
  },
});

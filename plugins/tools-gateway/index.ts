import { definePlugin, RegisterTools } from '../../kernel/index.ts';
import { gatewayTool } from './gateway.ts';

export default definePlugin({
  name: 'tools-gateway',
  description: 'Tool gateway, for owners alone: status, the config without its secrets, reload',
  setup(ctx) {
    ctx.tap(RegisterTools, (tools) => [...tools, gatewayTool]);
  },
});

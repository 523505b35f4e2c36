import { definePlugin } from '../../kernel/index.ts';
import { Methods } from '../gateway/contract.ts';
import { inspect, list, reload } from './methods.ts';

export default definePlugin({
  name: 'plugins-admin',
  description: 'Lists, inspects and reloads plugins for the page and the terminal',
  setup(ctx) {
    ctx.tap(Methods, (methods) => ({ ...methods, 'plugins.list': list, 'plugins.inspect': inspect, 'plugins.reload': reload }));
  },
});

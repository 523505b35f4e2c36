import { definePlugin } from '../../kernel/index.ts';
import { Methods, Routes } from '../gateway/contract.ts';
import { SendDelivery } from '../outbox/contract.ts';
import { eventRoute } from './event-source.ts';
import { chatMethods, scheme } from './methods.ts';
import { openWatches } from './watches.ts';

export default definePlugin({
  name: 'chat',
  description: 'The way in of the page and the terminal: messages, sessions, events',
  async setup(ctx) {
    const own = chatMethods(await ctx.lease('chat:watches', openWatches));
    ctx.tap(Methods, (methods) => ({ ...methods, ...own }));
    ctx.tap(Routes, (routes) => [...routes, eventRoute]);
    ctx.tap(SendDelivery, ({ route }) => (route.startsWith(scheme) ? { kind: 'delivered' } : undefined));
  },
});

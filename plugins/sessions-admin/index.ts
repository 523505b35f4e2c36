import { definePlugin } from '../../kernel/index.ts';
import { Methods } from '../gateway/contract.ts';
import { methods as own } from './methods.ts';

export default definePlugin({
  name: 'sessions-admin',
  description: 'Shows and exports sessions, and takes over those of another installation',
  setup(ctx) {
    ctx.tap(Methods, (methods) => ({ ...methods, ...own }));
  },
});

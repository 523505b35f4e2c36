import { definePlugin } from '../../kernel/index.ts';
import { UsualFields, usualIn } from '../agents/contract.ts';
import { Methods } from '../gateway/contract.ts';
import { ChatWords } from '../inbox/contract.ts';
import { AdmitMessage, CompactTurn } from '../turns/contract.ts';
import { compactWord, obey } from './command.ts';
import { compactMethod } from './methods.ts';
import { agentFields } from './schema.ts';
import { compactTurn, type Means } from './turn.ts';

export default definePlugin({
  name: 'compaction',
  description: 'Summarises the older part of a conversation that its model cannot hold',
  config: {
    schema: { type: 'object', additionalProperties: false, properties: {} },
    extends: { 'agents.entry': agentFields, 'agents.defaults': agentFields },
  },
  setup(ctx) {
    const means: Means = { log: ctx.log, gaveUp: new WeakSet() };
    const usual = usualIn(agentFields);
    ctx.tap(UsualFields, (fields) => ({ ...usual, ...fields }));
    ctx.tap(CompactTurn, (ask, run) => compactTurn(ask, run, means));
    // After those who rewrite or refuse a message.
    ctx.tap(AdmitMessage, (message, run) => obey(message, run, ctx.log), 50);
    ctx.tap(ChatWords, (words) => [...words, compactWord]);
    ctx.tap(Methods, (methods) => ({ ...methods, 'sessions.compact': compactMethod(ctx.log) }));
  },
});

import { definePlugin } from '../../kernel/index.ts';
import { Events } from '../events/contract.ts';
import { AdmitRequest } from '../models/contract.ts';
import { Turn } from '../turns/contract.ts';
import { smallness } from './window.ts';

/** Outlives reloads: a model is warned of once. */
const openWarned = () => Object.assign(new Set<string>(), { async [Symbol.asyncDispose]() {} });

export default definePlugin({
  name: 'context-guard',
  description: 'Refuses models whose context window is too small to work in, and warns of narrow ones',
  async setup(ctx) {
    const warned = await ctx.lease('context-guard:warned', openWarned);
    ctx.tap(AdmitRequest, ({ model }, run) => {
      const small = smallness(model);
      if (!small) return undefined;
      const { message } = small;
      if (small.isTooSmall) return { code: 'CONTEXT_WINDOW_SMALL', message };
      const name = `${model.provider}/${model.id}`;
      const key = `${name} ${model.contextWindow}`;
      if (warned.has(key)) return undefined;
      warned.add(key);
      ctx.log.warn(message);
      const turn = run.find(Turn);
      const session = turn && { sessionKey: turn.sessionKey, runId: turn.runId };
      const data = { model: name, contextWindow: model.contextWindow, message };
      run.find(Events)?.publish({ type: 'context_window_warning', ...session, data });
      return undefined;
    });
  },
});

import { definePlugin } from 'instar';
import { AdapterFor, attemptOf, type Model, type ModelAdapter, ModelCatalog } from 'instar/contracts/models';
import { answerTo } from './answers.ts';

const model: Model = {
  provider: 'eliza',
  id: '1966',
  name: 'Eliza',
  api: 'eliza', // a protocol of our own, so that our adapter is asked
  baseUrl: 'embedded:',
  contextWindow: 100_000,
  maxTokens: 1000,
  input: ['text'],
  reasoning: false,
};

const adapter: ModelAdapter = {
  api: model.api,
  async complete({ messages, signal }, on) {
    const content = messages.findLast(({ role }) => role === 'user')?.content ?? '';
    const heard = typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
    let text = '';
    for (const delta of answerTo(heard).match(/\S+\s*/g) ?? []) {
      // Never throws: what goes wrong is a failure, and what was said until then is kept.
      if (signal.aborted) return attemptOf(model, { content: [{ type: 'text', text }] }, { code: 'MODEL_ABORTED', message: 'stopped' });
      text += delta;
      on({ type: 'text', index: 0, delta });
    }
    return attemptOf(model, { content: [{ type: 'text', text }] });
  },
};

export default definePlugin({
  name: 'eliza',
  description: 'A model provider: the therapist of 1966, who needs no key',
  setup(ctx) {
    ctx.tap(ModelCatalog, (models) => [...models, model]);
    ctx.tap(AdapterFor, (api) => (api === model.api ? adapter : undefined));
  },
});

import { setImmediate } from 'node:timers/promises';
import { definePlugin } from '../../kernel/index.ts';
import { AdapterFor, attemptOf, ModelCatalog, type Attempt, type Model, type ModelAdapter } from '../models/contract.ts';
import { think } from './mind.ts';

const demo: Model = {
  provider: 'demo',
  id: 'demo',
  name: 'Demo (no language model)',
  api: 'demo',
  baseUrl: 'embedded:',
  contextWindow: 200_000,
  maxTokens: 8192,
  input: ['text'],
  reasoning: false,
};

const adapter: ModelAdapter = {
  api: demo.api,
  async complete(request, on): Promise<Attempt> {
    const { text, call } = think(request);
    const words = text.match(/\S+\s*/g) ?? [];
    let said = '';
    for (const [index, delta] of words.entries()) {
      // Lets what was said go out, and a stop come in.
      if (index % 4 === 0) await setImmediate();
      if (request.signal.aborted) break;
      said += delta;
      on({ type: 'text', index: 0, delta });
    }
    const content = said ? [{ type: 'text' as const, text: said }] : [];
    if (request.signal.aborted) return attemptOf(request.model, { content }, { code: 'MODEL_ABORTED', message: 'stopped' });
    const usage = countOf(request.system.length + JSON.stringify(request.messages.at(-1)).length, said.length);
    if (!call) return attemptOf(request.model, { content, usage });
    on({ type: 'toolCall', index: content.length, id: call.id, name: call.name, delta: JSON.stringify(call.arguments) });
    return attemptOf(request.model, { content: [...content, call], usage, stopReason: 'toolUse' });
  },
};

/** Four characters a token, as a rule of thumb: nothing here counts tokens. */
function countOf(read: number, written: number) {
  const [input, output] = [Math.ceil(read / 4), Math.ceil(written / 4)];
  return { input, output, cacheRead: 0, cacheWrite: 0, totalTokens: input + output };
}

export default definePlugin({
  name: 'model-demo',
  description: 'Answers where no language model is configured: understands a few plain requests and uses the real tools for them',
  setup(ctx) {
    ctx.tap(ModelCatalog, (models) => [...models, demo]);
    ctx.tap(AdapterFor, (api) => (api === demo.api ? adapter : undefined));
  },
});

import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { definePlugin } from '../../../kernel/index.ts';
import { Events } from '../../../plugins/events/contract.ts';
import { AdapterFor, attemptOf, ModelCatalog, type ModelEvent } from '../../../plugins/models/contract.ts';
import type { AssistantPart } from '../../../plugins/sessions/contract.ts';
import { bundledPlugins, type TestKernel, testKernel } from '../../../plugins/testing/kit.ts';
import { ask, bearer, gatewayOf } from '../gateway/wire.ts';

const doors = ['chat', 'cli', 'web', 'watch', 'model-demo', 'models-openai', 'models-pi', 'plugins-admin'];
/** Each piece is a delta; `~` before it makes it thinking, in a part of its own. */
let pieces: readonly string[] = [];
const shown: string[] = [];
let t: TestKernel;
let url = '';

const model = definePlugin({
  name: 'split-model',
  description: 'says something in pieces',
  setup(ctx) {
    const facts = {
      provider: 'split',
      id: 'm',
      name: 'm',
      api: 'split',
      baseUrl: 'split:',
      contextWindow: 200_000,
      maxTokens: 100,
      input: ['text'],
      reasoning: true,
    } as const;
    ctx.tap(ModelCatalog, (models) => [...models, facts]);
    ctx.tap(AdapterFor, (api) =>
      api === 'split' ? { api, complete: async (request, on) => attemptOf(request.model, { content: said(on) }) } : undefined,
    );
  },
});

function said(on: (event: ModelEvent) => void): readonly AssistantPart[] {
  const content: AssistantPart[] = [];
  for (const piece of pieces) {
    const isThought = piece.startsWith('~');
    const delta = isThought ? piece.slice(1) : piece;
    const last = content.at(-1);
    if (!isThought && last?.type === 'text') content[content.length - 1] = { type: 'text', text: last.text + delta };
    else content.push(isThought ? { type: 'thinking', thinking: delta } : { type: 'text', text: delta });
    on({ type: isThought ? 'thinking' : 'text', index: content.length - 1, delta });
  }
  return content;
}

beforeAll(async () => {
  t = await testKernel({
    plugins: [...(await bundledPlugins(doors)), model],
    config: {
      gateway: { auth: { token: 'right' }, http: { endpoints: { chatCompletions: { enabled: true } } } },
      agents: { defaults: { model: 'split/m' } },
    },
  });
  ({ url } = await gatewayOf(t));
  await t.kernel.run((run) =>
    run
      .get(Events)
      .watch({}, ({ type, data }) => void (type === 'message_update' && data['kind'] === 'text' && shown.push(String(data['delta'])))),
  );
});
afterAll(() => t[Symbol.asyncDispose]());

async function asked(stream: boolean): Promise<string> {
  const body = JSON.stringify({ model: 'instar', stream, messages: [{ role: 'user', content: 'hello' }] });
  const { status, text } = await ask(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...bearer('right'), 'content-type': 'application/json' },
    body,
  });
  expect(status).toBe(200);
  if (!stream) return (JSON.parse(text) as { choices: [{ message: { content: string } }] }).choices[0].message.content;
  const chunks = text.split('\n\n').filter((frame) => frame.startsWith('data: {'));
  return chunks
    .map((frame) => (JSON.parse(frame.slice(6)) as { choices: readonly { delta: { content?: string } }[] }).choices[0]?.delta.content ?? '')
    .join('');
}

const whole = fc.constantFrom('NO_REPLY', ' NO_REPLY\n', '\n\nNO_REPLY ', 'NO_REPLY.', 'NO', 'NO_REPLY NO_REPLY', 'I say NO_REPLY');

test('SPEC 6.2: over any split, with thinking before, between and after, NO_REPLY reaches no client, streamed or not, and all else does whole', async () => {
  await fc.assert(
    fc.asyncProperty(
      whole,
      fc.array(fc.nat(16), { maxLength: 4 }),
      fc.array(fc.nat(4), { maxLength: 2 }),
      fc.boolean(),
      async (text, cuts, thoughts, stream) => {
        const places = [...new Set(cuts)].toSorted((a, b) => a - b);
        const split: string[] = [0, ...places].map((at, i) => text.slice(at, places[i] ?? text.length));
        for (const at of thoughts) split.splice(Math.min(at, split.length), 0, '~hm, NO_REPLY?');
        pieces = split;
        shown.length = 0;
        const isSilent = text.trim() === 'NO_REPLY';
        expect(await asked(stream)).toBe(isSilent ? '' : text);
        await expect.poll(() => shown.join(''), { interval: 1 }).toBe(isSilent ? '' : text);
      },
    ),
    { numRuns: 80 },
  );
}, 60_000);

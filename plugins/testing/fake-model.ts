import { definePlugin, type Plugin } from '../../kernel/index.ts';
import { AdapterFor, attemptOf, type Model, type ModelAdapter, ModelCatalog, type ModelRequest } from '../models/contract.ts';
import type { AssistantPart } from '../sessions/contract.ts';

/** What the model says, and which tools it calls. */
export type Reply =
  | string
  | { readonly text?: string; readonly calls?: readonly { readonly name: string; readonly args?: Readonly<Record<string, unknown>> }[] };

/** One reply per request, in turn; or a function of the request. */
export type Script = readonly Reply[] | ((request: ModelRequest, number: number) => Reply | Promise<Reply>);

/** A plugin that brings the model `fake/fake`. */
export interface FakeModel extends Plugin {
  /** What it was asked, oldest first. */
  readonly requests: readonly ModelRequest[];
}

const model: Model = {
  provider: 'fake',
  id: 'fake',
  name: 'Fake',
  api: 'fake',
  baseUrl: 'fake:',
  contextWindow: 200_000,
  maxTokens: 8192,
  input: ['text', 'image'],
  reasoning: false,
};

/** A model that says what it is told to. Name it in the config: `{ agents: { defaults: { model: 'fake/fake' } } }`. */
export function fakeModel(script: Script): FakeModel {
  const requests: ModelRequest[] = [];
  const replyTo = typeof script === 'function' ? script : (_: ModelRequest, number: number) => script[number];
  const plugin = definePlugin({
    name: 'fake-model',
    description: 'A model of a test, which says what it is told to',
    setup(ctx) {
      ctx.tap(ModelCatalog, (models) => [...models, model]);
      ctx.tap(AdapterFor, (api) => (api === model.api ? { api, complete } : undefined));
    },
  });

  const complete: ModelAdapter['complete'] = async (request, on) => {
    const number = requests.push({ ...request, messages: [...request.messages] }) - 1; // the turn goes on with its list
    const reply = await replyTo(request, number);
    if (request.signal.aborted) return attemptOf(request.model, {}, { code: 'MODEL_ABORTED', message: 'stopped' });
    if (reply === undefined) {
      const message = `the script of fakeModel has no reply number ${number + 1}; add one, or give a function`;
      return attemptOf(request.model, {}, { code: 'MODEL_BAD_REPLY', message });
    }
    const content = partsOf(reply, `fake-${number}`);
    for (const [index, part] of content.entries()) {
      if (part.type === 'text') on({ type: 'text', index, delta: part.text });
      if (part.type === 'toolCall') on({ type: 'toolCall', index, id: part.id, name: part.name, delta: JSON.stringify(part.arguments) });
    }
    return attemptOf(request.model, { content, stopReason: content.some(({ type }) => type === 'toolCall') ? 'toolUse' : 'stop' });
  };
  return Object.assign(plugin, { requests });
}

function partsOf(reply: Reply, id: string): readonly AssistantPart[] {
  const { text, calls = [] } = typeof reply === 'string' ? { text: reply } : reply;
  const asked = calls.map(({ name, args = {} }, i) => ({ type: 'toolCall', id: `${id}-${i}`, name, arguments: args }) as const);
  return [...(text ? [{ type: 'text', text } as const] : []), ...asked];
}

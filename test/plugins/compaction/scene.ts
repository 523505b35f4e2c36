import { readFile } from 'node:fs/promises';
import { definePlugin } from '../../../kernel/index.ts';
import { Events, type LiveEvent } from '../../../plugins/events/contract.ts';
import {
  AdapterFor,
  attemptOf,
  type Attempt,
  type AttemptFailure,
  type Model,
  ModelCatalog,
  type ModelRequest,
} from '../../../plugins/models/contract.ts';
import { type AssistantPart, type Message, Sessions } from '../../../plugins/sessions/contract.ts';
import { bundledPlugins, fakeChannel, testKernel } from '../../../plugins/testing/kit.ts';

export type Mind = (request: ModelRequest, number: number) => Said | Promise<Said>;
type Said = string | readonly AssistantPart[] | AttemptFailure;

/** As a server says it. */
export const tooLong: AttemptFailure = {
  code: 'MODEL_HTTP',
  status: 400,
  message: 'HTTP 400',
  body: '{"error":{"message":"This model\'s maximum context length is 128000 tokens.","code":"context_length_exceeded"}}',
};
export const busy: AttemptFailure = {
  code: 'MODEL_HTTP',
  status: 429,
  message: 'HTTP 429',
  body: '{"error":{"message":"Rate limit reached"}}',
};

export const isSummary = ({ system }: ModelRequest) => system.startsWith('You write summaries');
export const textsOf = (messages: readonly Message[]) => messages.map(({ content }) => JSON.stringify(content)).join('\n');

interface Facts {
  readonly window?: number;
  readonly compaction?: object;
  readonly config?: object;
  readonly home?: string;
  readonly without?: string;
}

/** The product with a model of this mind. */
export async function scene(mind: Mind, { window = 40_000, compaction, config = {}, home, without }: Facts = {}) {
  const model: Model = {
    provider: 'p',
    id: 'm',
    name: 'm',
    api: 'test',
    baseUrl: 'test:',
    contextWindow: window,
    maxTokens: 4_000,
    input: ['text'],
    reasoning: false,
  };
  const requests: ModelRequest[] = [];
  const seen: LiveEvent[] = [];
  const complete = async (request: ModelRequest): Promise<Attempt> => {
    requests.push({ ...request, messages: [...request.messages] });
    const said = await mind(request, requests.length);
    if (request.signal.aborted) return attemptOf(model, {}, { code: 'MODEL_ABORTED', message: 'stopped' });
    const usage = { input: 10, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 11 };
    if (typeof said === 'string') return attemptOf(model, { content: [{ type: 'text', text: said }], usage });
    if ('code' in said) return attemptOf(model, {}, said);
    return attemptOf(model, { content: said, usage, stopReason: 'toolUse' });
  };
  const plugin = definePlugin({
    name: 'minded',
    description: 'A model of a test',
    needs: { events: Events },
    setup(ctx) {
      ctx.tap(ModelCatalog, (models) => [...models, model]);
      ctx.tap(AdapterFor, (api) => (api === 'test' ? { api, complete } : undefined));
      ctx.onLive(() => void ctx.needs.events.watch({}, (event) => void seen.push(event)));
    },
  });
  const channel = fakeChannel();
  const t = await testKernel({
    ...(home && { home }),
    plugins: [...(await bundledPlugins()).filter(({ name }) => name !== without), plugin, channel],
    config: { agents: { defaults: { model: 'p/m', ...(compaction && { compaction }) } }, ...config },
  });
  const session = () =>
    t.kernel.run(async (run) => {
      const transcript = await run.get(Sessions).open('agent:main:main');
      return { transcript, history: await transcript.history() };
    });
  const events = (type: string) => seen.filter((event) => event.type === type).map(({ data }) => data);
  /** Turns that were taken long ago, each of about so many tokens. */
  const past = (turns: number, tokens: number) =>
    t.kernel.run(async (run) => {
      await run.get(Sessions).ensure('agent:main:main', { agentId: 'main' });
      const transcript = await run.get(Sessions).open('agent:main:main');
      for (let i = 0; i < turns; i++) {
        await transcript.append({ role: 'user', content: `question ${i}: ${'word '.repeat((tokens * 3.5) / 5)}`, timestamp: 1 });
        const { message } = attemptOf(model, { content: [{ type: 'text', text: `answer ${i}` }] });
        await transcript.append(message);
      }
    });
  const compactions = async () => (await records()).filter(({ type }) => type === 'compaction');
  async function records() {
    const { transcript } = await session();
    return (await readFile(transcript.file, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }
  return { t, channel, requests, events, session, past, compactions, records, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() };
}

export const crashMind: Mind = (request) => (isSummary(request) ? 'SUM' : 'fine');

import type { JsonSchema, Run } from '../../../kernel/index.ts';
import { Models, type ModelEvent, type ModelReply, type ToolSpec } from '../../../plugins/models/contract.ts';
import type { Message } from '../../../plugins/sessions/contract.ts';
import modelsOpenai from '../../../plugins/models-openai/index.ts';
import modelsPi from '../../../plugins/models-pi/index.ts';
import models from '../../../plugins/models/index.ts';
import { bootTest, type TestKernel, type TestOptions } from '../../support/kernel.ts';

export const apis = ['openai-completions', 'openai-responses', 'anthropic-messages', 'google-generative-ai'] as const;
export type Api = (typeof apis)[number];

export const key = 'sk-test-1234567890';

/** A config block as existing users write it. */
export const block = (api: string, baseUrl: string, extra: object = {}) => ({
  baseUrl,
  apiKey: key,
  api,
  models: [{ id: 'm', name: 'm', contextWindow: 200_000, maxTokens: 8192, input: ['text', 'image'], ...extra }],
});

/** A kernel whose provider `<api>` is the server at `url`. */
export const bootModels = (url: string, extra: object = {}, options: TestOptions = {}): Promise<TestKernel> =>
  bootTest(
    [models, modelsOpenai, modelsPi],
    { models: { providers: Object.fromEntries(apis.map((api) => [api, block(api, url, extra)])) } },
    options,
  );

export const user = (content: Extract<Message, { role: 'user' }>['content']): Message => ({ role: 'user', content, timestamp: 1 });

const parameters: JsonSchema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
export const tools: readonly ToolSpec[] = [{ name: 'read', description: 'Reads a file.', parameters }];

export interface Asked extends ModelReply {
  readonly events: readonly ModelEvent[];
  readonly text: string;
}

interface Asking {
  readonly messages: readonly Message[];
  readonly signal?: AbortSignal;
  readonly tools?: readonly ToolSpec[];
  readonly on?: (event: ModelEvent) => void;
  readonly search?: object;
  readonly temperature?: number;
  readonly thinking?: string;
  readonly maxTokens?: number;
}

export async function askIn(run: Run, ref: string, asking: Asking): Promise<Asked> {
  const events: ModelEvent[] = [];
  const service = run.get(Models);
  const request = {
    model: await service.resolve(run, ref),
    system: 'You are a test.',
    tools,
    signal: new AbortController().signal,
    ...asking,
  };
  const reply = await service.complete(run, request, (event) => {
    events.push(event);
    asking.on?.(event);
  });
  const text = reply.message.content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('');
  return { ...reply, events, text };
}

export const ask = (
  { kernel }: TestKernel,
  api: string,
  said: string | readonly Message[],
  more: Omit<Asking, 'messages'> = {},
): Promise<Asked> => kernel.run((run) => askIn(run, `${api}/m`, { messages: typeof said === 'string' ? [user(said)] : said, ...more }));

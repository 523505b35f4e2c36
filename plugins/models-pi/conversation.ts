import type { AssistantMessage as PiAssistant, Context, Model as PiModel } from '@earendil-works/pi-ai';
import type { Model, ModelRequest } from '../models/contract.ts';
import { invalidArguments } from '../models/contract.ts';
import type { AssistantPart, Usage } from '../sessions/contract.ts';

/** What a maker's own catalog adds to a model: quirks that no protocol tells. */
export interface Peculiar {
  readonly compat?: object;
  readonly thinkingLevelMap?: PiModel<string>['thinkingLevelMap'];
}

export function piModel(model: Model, peculiar: Peculiar | undefined): PiModel<string> {
  const { provider, id, name, api, contextWindow, maxTokens, reasoning, headers } = model;
  // Threads keep the conversation on Anthropic's side: ours is the transcript, and each request stands alone.
  const threads = api === 'anthropic-messages' ? { supportsMessageThreads: false } : {};
  return {
    provider,
    id,
    name,
    api,
    contextWindow,
    maxTokens,
    reasoning,
    baseUrl: baseUrlOf(model),
    input: [...model.input],
    cost: model.cost ?? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    ...(headers && { headers: { ...headers } }),
    ...(peculiar?.thinkingLevelMap && { thinkingLevelMap: peculiar.thinkingLevelMap }),
    compat: { ...threads, ...peculiar?.compat, ...model.compat } as NonNullable<PiModel<string>['compat']>,
  };
}

/** The SDK puts `/v1` itself where Anthropic's is spoken. */
const baseUrlOf = ({ api, baseUrl }: Model) =>
  api === 'anthropic-messages' ? baseUrl.replace(/\/v1\/?$/, '') : baseUrl.replace(/\/+$/, '');

/** Our messages have pi's form; what a transcript adds is ignored there. */
export function piContext({ system, messages, tools, model }: ModelRequest): Context {
  const offered = model.compat?.supportsTools === false ? [] : tools;
  return {
    ...(system && { systemPrompt: system }),
    messages: messages as unknown as Context['messages'],
    tools: offered.map(({ name, description, parameters }) => ({ name, description, parameters })),
  };
}

/** Parts are kept as they are: pi finds signatures and ids in them again when the conversation goes on. */
export function partsOf(message: PiAssistant): readonly AssistantPart[] {
  return message.content.map((part) => {
    if (part.type !== 'toolCall' || part.argumentsError === undefined) return part;
    const { argumentsError, ...call } = part;
    const [, raw = argumentsError] = argumentsError.split('Received arguments:\n', 2);
    return { ...call, arguments: invalidArguments(raw) };
  });
}

export function usageOf({ usage }: PiAssistant): Usage {
  const { input, output, cacheRead, cacheWrite, totalTokens } = usage;
  return { input, output, cacheRead, cacheWrite, totalTokens: totalTokens || input + output + cacheRead + cacheWrite };
}

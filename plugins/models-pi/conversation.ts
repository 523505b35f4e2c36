import type { AssistantMessage as PiAssistant, Context, Model as PiModel } from '@earendil-works/pi-ai';
import type { Model, ModelRequest } from '../models/contract.ts';
import { invalidArguments } from '../models/contract.ts';
import type { AssistantPart, Message, Usage } from '../sessions/contract.ts';
import { whole } from '../sessions/contract/content.ts';
import { conversationFor } from './messages.ts';
import type { Unended } from './unended.ts';

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
    ...(system && { systemPrompt: whole(system) }),
    messages: conversationFor(model, messages) as unknown as Context['messages'],
    tools: offered.map(({ name, description, parameters }) => ({ name, description, parameters })),
  };
}

/**
 * Parts are kept as they are: pi finds signatures and ids in them again when the conversation goes on. Only an id that is
 * another call's already becomes another. A call that was cut has no arguments to run with, as little where it was before the first; Google's come whole.
 */
export function partsOf(message: PiAssistant, before: readonly Message[], unended: Unended): readonly AssistantPart[] {
  const taken = new Set(before.flatMap((one) => (one.role === 'toolResult' ? one.toolCallId : [])));
  return message.content.map((part, i) => {
    if (part.type !== 'toolCall') return part;
    const { argumentsError, ...call } = { ...part, id: freeId(part.id, taken) };
    taken.add(call.id);
    const cut = unended(i);
    if (cut !== undefined) return { ...call, arguments: invalidArguments(cut) };
    const mayBeCut = message.stopReason === 'length' && message.api !== 'google-generative-ai' && i === message.content.length - 1;
    if (mayBeCut && argumentsError === undefined && Object.keys(call.arguments).length === 0)
      return { ...call, arguments: invalidArguments('') };
    if (argumentsError === undefined) return call;
    const [, raw = argumentsError] = argumentsError.split('Received arguments:\n', 2);
    return { ...call, arguments: invalidArguments(raw) };
  });
}

/** OpenAI's ids are `<call>|<item>`: the call's is the one that names it. */
function freeId(id: string, taken: ReadonlySet<string>): string {
  const [head = '', ...item] = id.split('|');
  const ids = (n: number) => [n ? `${head}-${n}` : head, ...item].join('|');
  let n = 0;
  while (taken.has(ids(n)) || ids(n) === '') n++;
  return ids(n);
}

export function usageOf({ usage }: PiAssistant): Usage {
  const { input, output, cacheRead, cacheWrite, totalTokens } = usage;
  return { input, output, cacheRead, cacheWrite, totalTokens: totalTokens || input + output + cacheRead + cacheWrite };
}

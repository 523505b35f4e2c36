import { type ModelReply, noUsage, type UnsignedRequest } from '../models/contract.ts';
import type { Usage } from '../sessions/contract.ts';

/** An image is billed by its size in pixels and not by its bytes; this is about the most. */
const imageTokens = 1600;
/** A picture's data, however long, stands for so many tokens. */
const imageText = 'x'.repeat(imageTokens * 4);

/** Tokens of what is sent, from its length: about four characters each. */
export function inputTokens({ system, messages, tools }: Pick<UnsignedRequest, 'system' | 'messages' | 'tools'>): number {
  const chars = [...messages, ...tools].reduce((sum, part) => sum + keptLength(part), system.length);
  return Math.ceil(chars / 4);
}

/** Each message once: a conversation is sent again with every request. */
const lengths = new WeakMap<object, number>();
function keptLength(part: object): number {
  const length = lengths.get(part) ?? lengthOf(part);
  lengths.set(part, length);
  return length;
}

const lengthOf = (value: unknown) =>
  JSON.stringify(value, (key, part: unknown) => (key === 'data' && isImage(part) ? imageText : key === 'details' ? undefined : part))
    .length;

const isImage = (part: unknown) => typeof part === 'string' && part.length > 1000;

export interface Settled {
  readonly usage: Usage;
  /** Nobody told what it used: it is counted from its length. */
  readonly isEstimated: boolean;
}

/** These left work behind at the provider, which is billed although nobody told how much. */
const billed = new Set(['MODEL_ABORTED', 'MODEL_STREAM_CUT', 'MODEL_TIMEOUT', 'MODEL_REFUSED']);

/** What a request used: as the provider tells it, else from its length. A request that it turned down cost nothing. */
export function usageOf(request: UnsignedRequest, { message, failure }: ModelReply): Settled {
  if (tokensOf(message.usage) > 0) return { usage: message.usage, isEstimated: false };
  if (failure && !billed.has(failure.code)) return { usage: noUsage, isEstimated: false };
  const [input, output] = [inputTokens(request), Math.ceil(lengthOf(message.content) / 4)];
  return { usage: { ...noUsage, input, output, totalTokens: input + output }, isEstimated: true };
}

export const tokensOf = ({ input, output, cacheRead, cacheWrite, totalTokens }: Usage): number =>
  Math.max(totalTokens, input + output + cacheRead + cacheWrite);

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

/** These left work behind at the provider, which is billed although nobody told how much, and although nothing came. */
const billed = new Set(['MODEL_ABORTED', 'MODEL_STREAM_CUT', 'MODEL_TIMEOUT', 'MODEL_REFUSED']);

/**
 * What a request used: as the provider tells it, else from its length. Most tell only at the end: of an answer that broke off what came
 * counts at least. A request that was turned down cost nothing. `heard`: characters that came, where that is known.
 */
export function usageOf(request: UnsignedRequest, { message, failure }: ModelReply, heard = 0): Settled {
  const told = message.usage;
  const isTold = tokensOf(told) > 0;
  if (isTold && !failure) return { usage: told, isEstimated: false };
  const hasCome = message.content.length > 0 || heard > 0;
  if (failure && !isTold && !hasCome && !billed.has(failure.code)) return { usage: noUsage, isEstimated: false };
  const came = hasCome || !isTold ? Math.max(lengthOf(message.content), heard) : 0;
  const output = Math.max(told.output, Math.ceil(came / 4));
  if (isTold && output === told.output) return { usage: told, isEstimated: false };
  const usage = isTold ? { ...told, output } : { ...noUsage, input: inputTokens(request), output };
  return { usage: { ...usage, totalTokens: tokensOf(usage) }, isEstimated: true };
}

export const tokensOf = ({ input, output, cacheRead, cacheWrite, totalTokens }: Usage): number =>
  Math.max(totalTokens, input + output + cacheRead + cacheWrite);

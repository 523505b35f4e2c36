import type { Delivery, Payload } from '../outbox/contract.ts';
import type { Usage } from '../sessions/contract.ts';
import { type ApiError, apiError } from './api-error.ts';

/** What every object of one answer repeats. */
export interface Head {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** The answer as this API tells it. */
export type Outcome = { readonly text: string; readonly finish: 'stop' | 'length'; readonly usage: object } | { readonly error: ApiError };

export function outcomeOf({ payloads, meta }: Delivery): Outcome {
  const { usage, stopReason, error, runId } = meta as Meta;
  if (error) return { error: apiError(error.code, runId ? `${error.message} (run ${runId})` : error.message, passedOn(error.status)) };
  // That an answer was cut is told by its "finish".
  const isTold = ({ isReasoning, isError, text: words }: Payload) => !isReasoning && !isError && words;
  const text = payloads.flatMap((payload) => (isTold(payload) ? (payload.text ?? []) : [])).join('\n\n');
  // Half an answer must not look like a whole one. What a stream has shown of it stays shown.
  if (stopReason === 'aborted')
    return { error: apiError('turn_stopped', `the turn was stopped ${text ? 'in mid-answer' : 'before it answered'}`, 503) };
  return { text, finish: stopReason === 'length' ? 'length' : 'stop', usage: usageOf(usage) };
}

/** A limit or an outage is the client's to wait for; that a provider refused *our* key says nothing of the client's. */
const passedOn = (status: number | undefined) => (status === 429 || status === 503 ? status : undefined);

interface Meta {
  readonly usage?: Usage;
  readonly stopReason?: string;
  readonly error?: { readonly code: string; readonly message: string; readonly status?: number };
  readonly runId?: string;
}

/** This API counts cached tokens as part of the prompt. */
function usageOf({ input = 0, output = 0, cacheRead = 0, cacheWrite = 0 }: Partial<Usage> = {}) {
  const prompt = input + cacheRead + cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
  };
}

export const completion = (head: Head, text: string, finish: string, usage: object) => ({
  ...head,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: text, refusal: null }, logprobs: null, finish_reason: finish }],
  usage,
});

/** `usage: null` on all but the last is how a client that asked for usage knows that it comes. */
export const chunk = (head: Head, delta: object, finish: string | null, includeUsage: boolean) =>
  JSON.stringify({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...(includeUsage && { usage: null }),
  });

export const usageChunk = (head: Head, usage: object) => JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage });

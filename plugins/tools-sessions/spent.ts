import type { Entry } from '../sessions/contract.ts';

export interface Spent {
  readonly requests: number;
  readonly messages: number;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  /** US dollars, where prices are known. */
  readonly cost: number;
  /** What the last request and its answer took of the window. */
  readonly context: number;
}

/** What a session's transcript says that its requests took. */
export function spentIn(entries: readonly Entry[]): Spent {
  const none: Spent = { requests: 0, messages: entries.length, input: 0, output: 0, cached: 0, cost: 0, context: 0 };
  return entries.reduce((sum, { message }) => {
    if (message.role !== 'assistant') return sum;
    const { input, output, cacheRead, totalTokens, cost } = message.usage;
    return {
      ...sum,
      requests: sum.requests + 1,
      input: sum.input + input,
      output: sum.output + output,
      cached: sum.cached + cacheRead,
      cost: sum.cost + (cost?.total ?? 0),
      context: totalTokens || sum.context,
    };
  }, none);
}

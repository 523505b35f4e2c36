import { isCoded, messageOf, type Run } from '../../kernel/index.ts';
import type { Usage } from '../sessions/contract.ts';
import type { TurnOutcome } from './contract.ts';

export const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

/** What a person is told of a fault. */
export function brokenOutcome(cause: unknown, run: Run): TurnOutcome {
  const error = { code: isCoded(cause) ? cause.code : 'TURN_FAILED', message: messageOf(cause) };
  return { payloads: [{ text: `${error.message} [${error.code}, ${run.id}]`, isError: true }], usage: noUsage, stopReason: 'error', error };
}

import { isCoded } from '../../kernel/index.ts';
import type { Refusal } from './contract.ts';

const notNow = new Set(['NOT_LIVE', 'CANDIDATE_DROPPED']);

/** Any error as a refusal; undefined where it is ours to explain. Errors of other plugins may carry a `status` too. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (!isCoded(error)) return undefined;
  if (notNow.has(error.code)) {
    const message = 'the gateway is starting or stopping; try again';
    return { status: 503, code: error.code, message, headers: { 'retry-after': '1' } };
  }
  const { status, headers } = error as Partial<Refusal>;
  if (typeof status !== 'number' || status < 400 || status > 599) return undefined;
  return { status, code: error.code, message: error.message, ...(headers && { headers }) };
}

export const errorBody = ({ code, message }: Pick<Refusal, 'code' | 'message'>) => ({ error: { code, message } });

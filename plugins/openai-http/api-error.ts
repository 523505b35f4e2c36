import { randomBytes } from 'node:crypto';
import { isCoded, type Log, messageOf } from '../../kernel/index.ts';
import { refusal } from '../gateway/contract.ts';

/** An error as OpenAI clients read it, with its HTTP status. */
export interface ApiError {
  readonly status: number;
  readonly body: { readonly error: { readonly message: string; readonly type: string; readonly code: string; readonly param: null } };
}

/** What the client did wrong. */
export const badRequest = (message: string, code = 'invalid_request', status = 400) => refusal(status, code, message);

/** What a client can tell from a fault of ours: where the model's side failed, and what a rule refused. */
const statuses: Readonly<Record<string, number>> = {
  MODEL_UNREACHABLE: 502,
  MODEL_HTTP: 502,
  MODEL_STREAM_CUT: 502,
  MODEL_BAD_REPLY: 502,
  MODEL_NO_KEY: 503,
  MESSAGE_REFUSED: 400,
  QUEUE_FULL: 429,
  NOT_LIVE: 503,
  CANDIDATE_DROPPED: 503,
};

export function apiError(code: string, message: string, status = statuses[code] ?? 500): ApiError {
  const type = status >= 500 ? 'server_error' : 'invalid_request_error';
  return { status, body: { error: { message, type, code, param: null } } };
}

/** Refusals go out as they are; what is ours to explain is logged in full and told in short, under one id. */
export function apiErrorOf(error: unknown, log: Log): ApiError {
  const { status } = error as { status?: unknown };
  if (isCoded(error) && typeof status === 'number') return apiError(error.code, error.message, status);
  if (isCoded(error) && statuses[error.code]) return apiError(error.code, error.message);
  const id = randomBytes(4).toString('hex');
  log.error('a chat completion failed', { id, error });
  return apiError(isCoded(error) ? error.code : 'internal_error', `${messageOf(error)} (error ${id}, see the log)`);
}

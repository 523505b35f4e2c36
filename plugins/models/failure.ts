import type { AttemptFailure, Model, ModelFailure } from './contract.ts';
import { reasonOf } from './reason.ts';

/** Where a person looks after a provider: config paths with their places, or variables. */
export interface Advice {
  readonly url: string;
  readonly key: string;
}

/** The line for people, from what the adapter told. The key is taken out of all of it: some providers send it back. */
export function explain(model: Model, failure: AttemptFailure, advice: Advice, key: string | undefined): ModelFailure {
  const { code, status } = failure;
  const retryAfterMs = failure.retryAfterMs ?? retryAfter(failure.headers) ?? delayIn(failure.body);
  const message = `${model.provider}/${model.id} ${sentence(model, failure, advice, retryAfterMs)}`;
  return {
    code,
    message: oneLine(hide(message, key)),
    ...reasonOf(model, failure),
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(failure.body !== undefined && { body: hide(failure.body, key) }),
  };
}

function sentence(model: Model, failure: AttemptFailure, advice: Advice, retryAfterMs: number | undefined): string {
  switch (failure.code) {
    case 'MODEL_UNREACHABLE':
      return `is not reachable: ${networkReason(model, failure)}; check that the server runs and ${advice.url}`;
    case 'MODEL_TIMEOUT':
      return `gave no answer in time: ${failure.message}; try again, or choose another model`;
    case 'MODEL_HTTP':
      return httpSentence(failure, advice, retryAfterMs);
    case 'MODEL_STREAM_CUT':
      return `broke off: ${failure.message}; what had arrived is kept, send the message again to retry`;
    case 'MODEL_BAD_REPLY':
      return `sent something that is no answer: ${failure.message}; check ${advice.url} and the provider's api`;
    case 'MODEL_REFUSED':
      return `refused: ${failure.message}; put the request differently, or choose another model`;
    case 'MODEL_ABORTED':
      return 'was stopped';
    case 'MODEL_NO_KEY':
      return `needs a key: ${failure.message || `set ${advice.key}`}`;
    default:
      return failure.message;
  }
}

function httpSentence({ status, body = '', message }: AttemptFailure, advice: Advice, retryAfterMs: number | undefined): string {
  const reason = reasonIn(body);
  const what = `HTTP ${status ?? 'error'}: ${reason || message}`;
  if (status === 401 || status === 403) return `refused the key (${what}); check ${advice.key}`;
  if (status === 402) return `wants payment (${what}); check the account's balance`;
  if (status === 404) return `was not found (${what}); check the model's id and ${advice.url}`;
  if (status === 429) {
    const wait = retryAfterMs === undefined ? 'wait a little' : `wait ${Math.ceil(retryAfterMs / 1000)} s`;
    return `has reached a limit (${what}); ${wait}, or choose another model`;
  }
  if (status === 413 || /context.?length|too long|maximum context|token count|context size/i.test(reason)) {
    return `got too long a conversation (${what}); begin a new session with /new`;
  }
  if (status !== undefined && status < 400) return `answered with a redirect (${what}); check ${advice.url}`;
  if (status === undefined || status >= 500) return `has trouble (${what}); try again, or choose another model`;
  return `did not accept the request (${what})`;
}

/** The provider's own words, wherever it puts them. */
function reasonIn(body: string): string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    // Not JSON, or the start of it: a page of HTML tells a person nothing.
    return body.trimStart().startsWith('<') ? '' : body.slice(0, 200);
  }
  const inner = Array.isArray(value) ? (value[0] as unknown) : value;
  for (const path of [['error', 'message'], ['message'], ['error'], ['detail']]) {
    const found = path.reduce<unknown>((at, key) => (at as Readonly<Record<string, unknown>> | null)?.[key], inner);
    if (typeof found === 'string' && found) return found.slice(0, 200);
  }
  return body.slice(0, 200);
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ENOTFOUND: 'is a name that DNS does not know',
  EAI_AGAIN: 'could not be looked up in DNS',
  ETIMEDOUT: 'did not answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'did not answer in time',
  ECONNRESET: 'closed the connection',
  EPIPE: 'closed the connection',
  UND_ERR_SOCKET: 'closed the connection',
  EHOSTUNREACH: 'cannot be routed to',
  ENETUNREACH: 'cannot be routed to',
};

function networkReason({ baseUrl }: Model, { cause, message }: AttemptFailure): string {
  const url = URL.parse(baseUrl);
  if (!url) return `"${baseUrl}" is no URL`;
  const host = `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
  const code = codeIn(cause);
  if (code && /^(?:CERT_|ERR_TLS|ERR_SSL|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO)/.test(code)) {
    return `no secure connection to ${host} (TLS: ${code})`;
  }
  return `${host} ${(code && reasons[code]) ?? `failed (${message})`}`;
}

/** The deepest code of an error's causes: the outer ones say no more than "fetch failed". */
function codeIn(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > 5) return undefined;
  const { cause, errors, code } = error as { cause?: unknown; errors?: readonly unknown[]; code?: unknown };
  return codeIn(cause, depth + 1) ?? codeIn(errors?.[0], depth + 1) ?? (typeof code === 'string' ? code : undefined);
}

function retryAfter(headers: AttemptFailure['headers']): number | undefined {
  const valueOf = (name: string) => String(headers?.[name] ?? '').trim();
  const isNumber = (text: string) => /^\d+(?:\.\d+)?$/.test(text);
  const [milliseconds, value] = [valueOf('retry-after-ms'), valueOf('retry-after')];
  if (isNumber(milliseconds)) return Number(milliseconds);
  if (isNumber(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** Google tells it in the body: `"retryDelay": "20s"`. */
function delayIn(body = ''): number | undefined {
  const seconds = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

const hide = (text: string, key: string | undefined) => (key && key.length >= 6 ? text.replaceAll(key, '[key]') : text);

/** What a server sends is shown in terminals. */
const oneLine = (text: string) => text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').slice(0, 600);

import type { AttemptFailure } from '../models/contract.ts';
import type { Searched } from './search.ts';

/** What the wire told of one request: pi-ai itself hands on no more than a text. */
export interface Witness extends Searched {
  status?: number;
  headers?: Readonly<Record<string, string>>;
  body?: string;
  cause?: unknown;
}

/** A `fetch` that keeps what an error answer says and why none came. */
export function witnessed(witness: Witness): typeof fetch {
  return async (input, init) => {
    try {
      const response = await fetch(input, init);
      witness.status = response.status;
      if (!response.ok) {
        witness.headers = Object.fromEntries(response.headers);
        witness.body = (await response.clone().text()).slice(0, 4096);
      }
      return response;
    } catch (cause) {
      witness.cause = cause;
      throw cause;
    }
  };
}

const refusals = /^(?:refusal|sensitive|content_filter|SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII|IMAGE_SAFETY)$/;
const breaks = /terminated|socket|ECONNRESET|premature|other side|ended (?:before|without)|unfinished|Unterminated|Unexpected end/i;

/** Sorts a failed reply by what the wire told, then by pi-ai's text. */
export function failureOf(witness: Witness, text: string, rawStopReason: string | undefined, aborted: boolean): AttemptFailure {
  const { status, headers, body, cause } = witness;
  if (aborted) return { code: 'MODEL_ABORTED', message: 'stopped' };
  if (cause !== undefined) return { code: 'MODEL_UNREACHABLE', message: text, cause };
  if (status !== undefined && (status < 200 || status > 299)) {
    return { code: 'MODEL_HTTP', message: `HTTP ${status}`, status, ...(headers && { headers }), ...(body !== undefined && { body }) };
  }
  if (rawStopReason && refusals.test(rawStopReason)) return { code: 'MODEL_REFUSED', message: text };
  const inStream = errorInStream(text);
  if (inStream) return inStream;
  if (status === 200 && breaks.test(text)) return { code: 'MODEL_STREAM_CUT', message: 'the stream ended inside the reply' };
  return { code: 'MODEL_BAD_REPLY', message: text.slice(0, 200) };
}

const kinds: Readonly<Record<string, number>> = {
  authentication_error: 401,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  overloaded_error: 529,
  api_error: 500,
  server_error: 500,
};

/** An error that came as an event of a stream that had begun well. */
function errorInStream(text: string): AttemptFailure | undefined {
  const kind = /"type":\s*"error"[^]*?"type":\s*"(\w+)"/.exec(text)?.[1] ?? /^(?:.*API error: )?(?:Error Code )?(\w+): /.exec(text)?.[1];
  const status = kind === undefined ? undefined : kinds[kind];
  if (status === undefined) return undefined;
  return { code: 'MODEL_HTTP', message: 'an error in the stream', status, body: text.slice(text.indexOf('{') < 0 ? 0 : text.indexOf('{')) };
}

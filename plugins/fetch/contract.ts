import { type Run, service } from '../../kernel/index.ts';

/** One request to an address that a model, a message or a page named. */
export interface FetchRequest {
  /** http: or https:, without a user and password in it. */
  readonly url: string;
  /** Default GET. */
  readonly method?: 'GET' | 'HEAD' | 'POST';
  /** Those that may hold a secret, which is all but accept, accept-language and user-agent, never follow to another origin. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** What is kept of the answer, unpacked; the rest is cut off and said so. Default 5 MB, at most 50 MB. */
  readonly maxBytes?: number;
  /** From the first look-up to the last byte, redirects included. Default 30 s, at most 5 min. */
  readonly timeoutMs?: number;
  /** Default 5, at most 20. 0: a redirect is an answer as any other. */
  readonly maxRedirects?: number;
  /** Patterns such as `text/*` or `application/json`; another content type of a good answer is FETCH_TYPE. Default: any. */
  readonly types?: readonly string[];
  readonly signal?: AbortSignal;
  /** Hosts, as `fetch.allowPrivate` names them, that the owner's config named itself: a search server at home. Never from a model. Errors tell the origin alone. */
  readonly owned?: readonly string[];
}

/** An answer, whatever its status. */
export interface Fetched {
  /** Where it came from in the end. */
  readonly url: string;
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** `text/html`, in lower case, without parameters; empty where the answer has none. */
  readonly type: string;
  readonly body: Uint8Array;
  /** The answer was longer than `maxBytes`. */
  readonly truncated: boolean;
  /** Each address that redirected. */
  readonly redirects: readonly string[];
  /** By the charset of its content type, else of its first bytes, else UTF-8. */
  text(): string;
}

/**
 * The one way out to an address that the owner did not choose. The address that is connected to was judged, at each redirect anew: no
 * loopback, private, link-local, shared or metadata address in any notation, unless `fetch.allowPrivate` names it.
 */
export interface SafeFetch {
  /** Throws FETCH_URL, FETCH_BLOCKED, FETCH_REDIRECTS, FETCH_TYPE, FETCH_TIMEOUT or FETCH_FAILED, in one line for a model to act on. */
  fetch(request: FetchRequest, run: Run): Promise<Fetched>;
}
export const SafeFetch = service<SafeFetch>('fetch.safe');

/** Looks a host name up. Where nobody provides it, the system does. What it answers is judged all the same. */
export type Resolve = (host: string) => Promise<readonly string[]>;
export const Resolve = service<Resolve>('fetch.resolve');

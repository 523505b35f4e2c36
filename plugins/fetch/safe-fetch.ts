import type { IncomingMessage } from 'node:http';
import { isCoded, KernelError, messageOf, type Run } from '../../kernel/index.ts';
import { type Allowance, allowanceOf } from './addresses.ts';
import { decoded, encodings, readBody } from './body.ts';
import type { Fetched, FetchRequest, SafeFetch } from './contract.ts';
import { exchange, type Outgoing } from './exchange.ts';
import { named, targetsOf, theirs, urlOf } from './target.ts';

const usual = { maxBytes: 5_000_000, timeoutMs: 30_000, maxRedirects: 5 };
const most = { maxBytes: 50_000_000, timeoutMs: 300_000, maxRedirects: 20 };

export function openSafeFetch(allowPrivate: readonly string[], agent: string): SafeFetch {
  const allowance = allowanceOf(allowPrivate);
  return {
    async fetch(request, run) {
      const timeoutMs = limit(request, 'timeoutMs');
      const deadline = AbortSignal.timeout(timeoutMs);
      const signal = AbortSignal.any([deadline, run.signal, ...(request.signal ? [request.signal] : [])]);
      const allowed = request.owned ? [allowance, allowanceOf(request.owned)] : [allowance];
      try {
        return await ending(
          follow({ ...request, headers: { 'user-agent': agent, ...lowered(request.headers) } }, { allowed, signal, run }),
          signal,
        );
      } catch (cause) {
        run.signal.throwIfAborted();
        request.signal?.throwIfAborted();
        if (isCoded(cause) && cause.code.startsWith('FETCH_')) throw cause;
        const where = named(request, request.url);
        if (deadline.aborted) throw new KernelError('FETCH_TIMEOUT', `${where} took more than ${timeoutMs / 1000} s`, { cause });
        throw new KernelError('FETCH_FAILED', `${where} could not be fetched: ${reasonOf(cause, request.url)}`, { cause });
      }
    },
  };
}

/** Of the system the error is our own words; of TLS, HTTP and unpacking it may hold the server's, such as the names in a certificate. */
function reasonOf(cause: unknown, url: string): string {
  const { syscall } = (cause ?? {}) as { readonly syscall?: unknown };
  return typeof syscall === 'string' ? messageOf(cause) : theirs(url, messageOf(cause));
}

interface Way {
  readonly allowed: readonly Allowance[];
  readonly signal: AbortSignal;
  readonly run: Run;
}

/** A look-up cannot be aborted: the wait for it can. */
function ending<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((done, failed) => {
    const stop = () => failed(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    work.then(done, failed).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Each hop is looked up and judged as if it had been asked for. */
async function follow(request: FetchRequest, way: Way): Promise<Fetched> {
  const redirects: string[] = [];
  const maxRedirects = limit(request, 'maxRedirects');
  let hop: Hop = { url: urlOf(request.url), method: request.method ?? 'GET', headers: request.headers ?? {}, body: request.body };
  for (;;) {
    const targets = await targetsOf(hop.url, way.allowed, way.run);
    way.signal.throwIfAborted();
    const { method, body } = hop;
    const headers = { ...hop.headers, 'accept-encoding': encodings };
    const answer = await exchange(hop.url, targets, { method, headers, body, signal: way.signal });
    const next = maxRedirects === 0 ? undefined : redirectOf(answer, hop);
    if (!next) return received(answer, hop.url, redirects, request);
    answer.destroy();
    redirects.push(hop.url.href);
    if (redirects.length > maxRedirects) {
      throw new KernelError(
        'FETCH_REDIRECTS',
        `${named(request, request.url)} redirected more than ${maxRedirects} times, last to ${theirs(hop.url.href, next.url.href)}`,
      );
    }
    hop = next;
  }
}

type Hop = {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Outgoing['body'];
};

/** Headers that any server may see. */
const harmless = new Set(['accept', 'accept-language', 'user-agent']);

function redirectOf({ statusCode = 0, headers: { location } }: IncomingMessage, { url, method, headers, body }: Hop) {
  if (![301, 302, 303, 307, 308].includes(statusCode) || !location) return undefined;
  const next = urlOf(location, url.href);
  const kept = Object.entries(headers).filter(([name]) => next.origin === url.origin || harmless.has(name));
  const asGet = statusCode === 303 || (method === 'POST' && statusCode < 303);
  const goesAway = body !== undefined && next.origin !== url.origin && !asGet;
  if (goesAway)
    throw new KernelError(
      'FETCH_REDIRECTS',
      `${url.origin} redirected what was sent to it to ${theirs(url.href, next.origin)}; it is not sent there`,
    );
  if (!asGet) return { url: next, method, headers: Object.fromEntries(kept), body };
  const bare = kept.filter(([name]) => !name.startsWith('content-'));
  return { url: next, method: method === 'HEAD' ? 'HEAD' : 'GET', headers: Object.fromEntries(bare), body: undefined };
}

async function received(answer: IncomingMessage, url: URL, redirects: readonly string[], request: FetchRequest): Promise<Fetched> {
  const contentType = answer.headers['content-type'] ?? '';
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  const { statusCode: status = 0 } = answer;
  if (status < 300 && request.types && !request.types.some((pattern) => fits(type, pattern))) {
    answer.destroy();
    throw new KernelError(
      'FETCH_TYPE',
      `${named(request, url.href)} is ${nameOf(type) || 'of no named type'}; wanted is ${request.types.join(', ')}`,
    );
  }
  const { bytes, truncated } = await readBody(answer, limit(request, 'maxBytes'));
  const headers = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value ?? '')]));
  return { url: url.href, status, headers, type, body: bytes, truncated, redirects, text: () => decoded(bytes, contentType) };
}

/** A type is two short words; what is none is not repeated. */
const nameOf = (type: string) => (/^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type) ? type : '');
const fits = (type: string, pattern: string) => (pattern.endsWith('/*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern);

const limit = (request: FetchRequest, name: keyof typeof usual) => Math.min(Math.max(request[name] ?? usual[name], 0), most[name]);

/** Ours to set: whom we ask, how long it is, and how it is packed. */
const ours = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'accept-encoding', 'upgrade']);
const lowered = (headers: FetchRequest['headers'] = {}) =>
  Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name]) => !ours.has(name)),
  );

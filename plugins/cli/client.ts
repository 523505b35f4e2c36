import { KernelError, messageOf } from '../../kernel/index.ts';
import type { WebSocket as Socket } from 'ws';
import type { LiveEvent } from '../events/contract.ts';

/** A WebSocket to a gateway. */
export interface Client {
  readonly url: string;
  call<T>(method: string, params?: Readonly<Record<string, unknown>>): Promise<T>;
  /** Each live event from now on; returns how to stop listening. */
  listen(each: (event: LiveEvent) => void): () => void;
  /** Aborts when the connection is gone, with CLI_LOST, or CLI_TOO_LARGE where that would happen again. */
  readonly lost: AbortSignal;
  close(): void;
}

interface Frame {
  readonly id?: number;
  readonly ok?: boolean;
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
  readonly event?: string;
  readonly data?: unknown;
}

/** Throws CLI_REFUSED, CLI_TIMEOUT or CLI_DENIED, each naming host and port. */
export async function connect(url: string, token: string, patienceMs = 5000): Promise<Client> {
  const socket = await open(url, token, patienceMs);
  const lost = new AbortController();
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const listeners = new Set<(event: LiveEvent) => void>();
  let calls = 0;
  socket.addEventListener('message', ({ data }) => {
    const frame = JSON.parse(data as string) as Frame; // the gateway sends text alone
    if (frame.event === 'live') for (const each of listeners) each(frame.data as LiveEvent);
    const call = frame.id === undefined ? undefined : waiting.get(frame.id);
    if (!call || frame.id === undefined) return;
    waiting.delete(frame.id);
    if (frame.ok) call.resolve(frame.result);
    else call.reject(new KernelError(frame.error?.code ?? 'CLI_FAILED', frame.error?.message ?? 'the call failed'));
  });
  socket.addEventListener('close', ({ code, reason }) => {
    const gone = `the connection to the gateway at ${hostOf(url)} was lost${reason && `: ${reason}`}`;
    const tooLarge = `what was sent is more than the gateway at ${hostOf(url)} takes at once`;
    lost.abort(code === 1009 ? new KernelError('CLI_TOO_LARGE', tooLarge) : new KernelError('CLI_LOST', gone));
    for (const call of waiting.values()) call.reject(lost.signal.reason);
  });
  return {
    url,
    lost: lost.signal,
    close: () => socket.close(),
    listen(each) {
      listeners.add(each);
      return () => listeners.delete(each);
    },
    async call<T>(method: string, params: Readonly<Record<string, unknown>> = {}) {
      lost.signal.throwIfAborted();
      const call = Promise.withResolvers<unknown>();
      waiting.set(++calls, call);
      socket.send(JSON.stringify({ id: calls, method, params }));
      return (await call.promise) as T;
    },
  };
}

async function open(url: string, token: string, patienceMs: number): Promise<Socket> {
  const protocols = ['instar', `instar.token.${Buffer.from(token).toString('base64url')}`];
  // Not the one of the platform: that loads a whole HTTP client, for a tenth of what a command takes.
  const { WebSocket } = await import('ws');
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws?client=terminal`, protocols);
  const opened = Promise.withResolvers<boolean>();
  socket.addEventListener('open', () => opened.resolve(true));
  socket.addEventListener('error', () => opened.resolve(false));
  const late = setTimeout(() => opened.resolve(false), patienceMs);
  const isOpen = await opened.promise;
  clearTimeout(late);
  if (isOpen) return socket;
  socket.close();
  throw await whyClosed(url, token, patienceMs);
}

/** A browser's WebSocket hides why it failed; plain HTTP on the same address tells. */
async function whyClosed(url: string, token: string, patienceMs: number): Promise<KernelError> {
  const at = hostOf(url);
  try {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${url}/ws`, { headers, signal: AbortSignal.timeout(patienceMs) });
    const { error } = (await response.json().catch(() => ({}))) as { error?: { message?: string } };
    const what = error?.message ?? `it answered ${response.status}`;
    const cure = 'set INSTAR_GATEWAY_TOKEN to the one it was started with, or unset it if it is set for this command alone';
    if (response.status === 401) return new KernelError('CLI_DENIED', `the gateway at ${at} has another token than this command; ${cure}`);
    return new KernelError('CLI_REFUSED', `no WebSocket at ${at}: ${what}`);
  } catch (cause) {
    const { code = messageOf(cause) } = ((cause as Error).cause ?? {}) as { code?: string };
    if ((cause as Error).name === 'TimeoutError') {
      return new KernelError('CLI_TIMEOUT', `no answer from ${at} within ${patienceMs / 1000} s; is it another program?`, { cause });
    }
    const why = code === 'ECONNREFUSED' ? 'connection refused: no gateway listens there' : code;
    return new KernelError('CLI_REFUSED', `cannot reach the gateway at ${at}: ${why}; "instar doctor" looks closer`, { cause });
  }
}

const hostOf = (url: string) => new URL(url).host;

import type { IncomingMessage, ServerResponse } from 'node:http';
import { KernelError, service, type Subject, waterfall, type Run } from '../../kernel/index.ts';

/** One request, after the token was checked (unless the route is public) and within the body limit. */
export interface Exchange {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  /** Aborts when the client goes away before the answer ended. */
  readonly signal: AbortSignal;
  /** Parsed JSON body; throws HTTP_BODY with status 400 or 413. */
  json(): Promise<unknown>;
  /** Strings and bytes go out as they are (name their content-type), all else as JSON. */
  reply(status: number, body: unknown, headers?: Readonly<Record<string, string>>): void;
  /** Starts an event stream; each call writes one `data:` frame. Kept alive by a comment every 15 s. */
  stream(): {
    /** Returns a promise where the client reads too slowly: it settles when there is room again. */
    send(data: string): void | Promise<void>;
    /** Settles as `flushed` does. */
    end(): Promise<void>;
  };
  /** Once the whole answer is with the operating system: true. Once the client went away before that: false. */
  readonly flushed: Promise<boolean>;
  readonly raw: { readonly request: IncomingMessage; readonly response: ServerResponse };
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Exact, or ending in `/*`. */
  readonly path: string;
  /** Public routes serve static text only. Default `token`. */
  readonly auth?: 'token' | 'public';
  /** Bytes. Default 1 MiB. */
  readonly bodyLimit?: number;
  handle(exchange: Exchange, run: Run): void | Promise<void>;
}
export const Routes = waterfall<readonly Route[]>('gateway.routes');

/**
 * A connected WebSocket client (page, terminal, editor) at `ws://<host>/ws?client=<kind>`. Subprotocols it offers:
 * `instar` and `instar.token.<base64url of the token>` (or an Authorization header); the server answers `instar`.
 * The first frame is `{event: 'hello', data: {version, generation}}`. Close codes: 1001 the gateway stops,
 * 4001 the token was replaced, 4008 read too slowly: connect again and replay from the last cursor.
 */
export interface Client {
  readonly id: string;
  /** What it calls itself; for show only. */
  readonly kind: string;
  /** What its credential proved: whoever shows the gateway's token is the owner. What it may do follows from this alone. */
  readonly sender: Subject['sender'];
  /** Aborts when the socket closes. */
  readonly signal: AbortSignal;
  /** Returns a promise where the client reads too slowly: it settles when there is room again. */
  send(event: string, data: unknown): void | Promise<void>;
}

/** What a client is told where it is refused. */
export interface Refusal {
  /** HTTP status. */
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Throw it from a route or a method for what the client did wrong: it goes out as it is and counts as no error of ours. */
export function refusal(status: number, code: string, message: string, headers?: Refusal['headers']): KernelError & Refusal {
  return Object.assign(new KernelError(code, message), { status, ...(headers && { headers }) });
}

/** For methods of the owner alone, such as answers to approvals. Throws a refusal with `code`. */
export function requireOwner({ sender }: Pick<Client, 'sender'>, code: string, what: string): void {
  if (sender !== 'owner') throw refusal(403, code, `${what} is for the owner alone: for clients that show the gateway's token`);
}

/** A method of the WebSocket protocol: `{id, method, params}` in, `{id, ok, result | error}` out. */
export type Method = (params: Readonly<Record<string, unknown>>, client: Client, run: Run) => unknown;
export const Methods = waterfall<Readonly<Record<string, Method>>>('gateway.methods');

export interface Gateway {
  /** `http://127.0.0.1:18789`, as bound. */
  readonly url: string;
  readonly token: string;
}
export const Gateway = service<Gateway>('gateway');

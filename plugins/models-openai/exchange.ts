import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import type { Leasable } from '../../kernel/index.ts';
import type { AttemptFailure } from '../models/contract.ts';

const http = process.getBuiltinModule('node:http');
const connectMs = 10_000;
/** A reasoning model may be silent for minutes. */
const silentMs = 600_000;
/** For a server to close its answer after the last word, so that the socket can be used again. */
const graceMs = 1_000;

/** Sockets to model servers, kept open between requests. */
export interface Connections extends Leasable {
  open(url: URL, options: RequestOptions): Promise<ClientRequest> | ClientRequest;
}

export function connections(env: Readonly<Record<string, string | undefined>>): Connections {
  const plain = new http.Agent({ keepAlive: true });
  const proxied = env['NODE_USE_ENV_PROXY'] === '1' ? { proxyEnv: env as NodeJS.ProcessEnv } : {};
  let secure: HttpsAgent | undefined;
  return {
    open(url, options) {
      if (url.protocol === 'http:') return http.request(url, { ...options, agent: plain });
      return import('node:https').then(({ default: https }) => {
        secure ??= new https.Agent({ keepAlive: true, ...proxied });
        return https.request(url, { ...options, agent: secure });
      });
    },
    // Nothing here takes in work: there is nothing to stop or to start again.
    resume() {},
    async [Symbol.asyncDispose]() {
      plain.destroy();
      secure?.destroy();
    },
  };
}

export interface Outgoing {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly signal: AbortSignal;
}

/** Who reads the answer. What is over, or faulty, ends the exchange before the server closes it. */
export interface Reader {
  head(response: IncomingMessage): void;
  text(piece: string): void;
  isOver(): boolean;
  /** Nothing more is wanted of it. */
  isFaulty(): boolean;
}

/** One request and its answer, read as it comes. Settles when it is over, with what went wrong in the network if anything did. */
export async function exchange(pool: Connections, outgoing: Outgoing, reader: Reader): Promise<AttemptFailure | undefined> {
  for (;;) {
    if (outgoing.signal.aborted) return aborted;
    const options = { method: 'POST', headers: outgoing.headers };
    const request = await pool.open(outgoing.url, options);
    const outcome = await once(request, outgoing, reader);
    // A kept socket may have been closed by the server meanwhile: that says nothing about the server.
    if (outcome !== 'stale') return outcome;
  }
}

const aborted: AttemptFailure = { code: 'MODEL_ABORTED', message: 'stopped' };

type Outcome = AttemptFailure | undefined | 'stale';

/** Settles when the answer is known. The request may last a little longer, but not for ever: nobody asks a server to go on talking. */
function once(request: ClientRequest, { body, signal }: Outgoing, reader: Reader): Promise<Outcome> {
  return new Promise((settle) => {
    let answered = false;
    let grace: NodeJS.Timeout | undefined;
    const give = (failure: AttemptFailure | undefined) => {
      settle(failure);
      request.destroy();
    };
    const stop = () => give(aborted);
    const over = () => {
      settle(undefined);
      grace ??= setTimeout(() => request.destroy(), graceMs);
    };
    request.once('close', () => {
      clearTimeout(grace);
      signal.removeEventListener('abort', stop);
    });
    const lost = (cause: NodeJS.ErrnoException) => {
      if (!answered && request.reusedSocket && (cause.code === 'ECONNRESET' || cause.code === 'EPIPE')) settle('stale');
      else if (answered) settle({ code: 'MODEL_STREAM_CUT', message: 'the connection broke inside the reply', cause });
      else settle({ code: 'MODEL_UNREACHABLE', message: cause.message, cause });
    };
    signal.addEventListener('abort', stop, { once: true });
    request.on('error', lost);
    request.on('socket', (socket) => limitConnect(socket, give));
    request.setTimeout(silentMs, () => give({ code: 'MODEL_TIMEOUT', message: `silent for ${silentMs / 60_000} minutes` }));
    request.on('response', (response) => {
      answered = true;
      read(response, reader, over, give);
      response.on('error', lost);
    });
    // The signal may have come while the connection's library was loaded.
    if (signal.aborted) stop();
    else request.end(body);
  });
}

function read(response: IncomingMessage, reader: Reader, over: () => void, give: (why: AttemptFailure | undefined) => void): void {
  const guarded = (work: () => void) => {
    try {
      work();
      if (reader.isFaulty()) give(undefined);
      else if (reader.isOver()) over();
    } catch (cause) {
      give({ code: 'MODEL_BAD_REPLY', message: cause instanceof Error ? cause.message : String(cause), cause });
    }
  };
  response.setEncoding('utf8');
  guarded(() => reader.head(response));
  response.on('data', (piece: string) => guarded(() => reader.text(piece)));
  response.on('end', over);
}

function limitConnect(socket: Socket, give: (why: AttemptFailure) => void): void {
  if (!socket.connecting) return;
  const late: AttemptFailure = { code: 'MODEL_UNREACHABLE', message: `no connection within ${connectMs / 1000} s` };
  const timer = setTimeout(give, connectMs, { ...late, cause: Object.assign(new Error(late.message), { code: 'ETIMEDOUT' }) });
  socket.once('connect', () => clearTimeout(timer));
  socket.once('close', () => clearTimeout(timer));
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { readJson } from './body.ts';
import type { Exchange } from './contract.ts';

const keepAliveMs = 15_000;
const always = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** One request and its answer. What not every route asks for (signal, flushed) is wired up at first use. */
export class HttpExchange implements Exchange {
  readonly raw: Exchange['raw'];
  readonly url: URL;
  readonly #limit: number;
  #signal: AbortSignal | undefined;
  #flushed: Promise<boolean> | undefined;
  #body: Promise<unknown> | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, url: URL, limit: number) {
    this.raw = { request, response };
    this.url = url;
    this.#limit = limit;
  }

  get method() {
    return this.raw.request.method ?? '';
  }

  get headers() {
    return this.raw.request.headers;
  }

  get signal(): AbortSignal {
    if (this.#signal) return this.#signal;
    const gone = new AbortController();
    void this.flushed.then((whole) => whole || gone.abort(new Error('the client went away')));
    return (this.#signal = gone.signal);
  }

  get flushed(): Promise<boolean> {
    return (this.#flushed ??= flushed(this.raw.response));
  }

  json() {
    return (this.#body ??= readJson(this.raw.request, this.raw.response, this.#limit));
  }

  reply(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    const { response } = this.raw;
    if (response.headersSent || response.destroyed) return;
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const content = isRaw ? body : Buffer.from(JSON.stringify(body) ?? '');
    const type = isRaw ? 'text/plain; charset=utf-8' : 'application/json';
    response.writeHead(status, { ...always, 'content-type': type, 'content-length': Buffer.byteLength(content), ...headers });
    response.end(content);
  }

  stream() {
    const { response } = this.raw;
    response.writeHead(200, { ...always, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    response.flushHeaders();
    const alive = setInterval(() => response.write(': keep-alive\n\n'), keepAliveMs);
    response.once('close', () => clearInterval(alive));
    return {
      send: (data: string) => (response.destroyed || response.write(`data: ${data}\n\n`) ? undefined : room(response)),
      end: async () => {
        clearInterval(alive);
        response.end();
        await this.flushed;
      },
    };
  }
}

function flushed(response: ServerResponse): Promise<boolean> {
  if (response.writableFinished || response.destroyed) return Promise.resolve(response.writableFinished);
  return new Promise((resolve) => {
    response.once('finish', () => resolve(true));
    response.once('close', () => resolve(response.writableFinished));
  });
}

/** Settles when a full response takes more, or has gone. */
function room(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      response.off('drain', settle).off('close', settle);
      resolve();
    };
    response.on('drain', settle).on('close', settle);
  });
}

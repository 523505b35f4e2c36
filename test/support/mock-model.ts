import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerer, type Answer } from './mock-model/answer.ts';
import { chat } from './mock-model/chat.ts';
import { google } from './mock-model/google.ts';
import { messages } from './mock-model/messages.ts';
import { responses } from './mock-model/responses.ts';
import type { Facts, Json, Seen, Wire } from './mock-model/wire.ts';

export type { Seen } from './mock-model/wire.ts';

export interface MockModel extends AsyncDisposable {
  /** A `baseUrl` for every protocol. */
  readonly url: string;
  readonly port: number;
  /** Newest last; the last 1,000. */
  readonly requests: Seen[];
  /** The bodies of the last requests, newest last. */
  readonly bodies: () => readonly Json[];
  /** Lets go of what is held, and holds nothing from now on. */
  readonly release: () => void;
}

/**
 * A model server that does what it is told (mock-model/directive.ts), at once and always the same. Speaks the protocols of
 * OpenAI (chat completions, responses), Anthropic and Google, streamed or not; the path's end decides.
 */
export async function startMock(options: { readonly port?: number; readonly keepBodies?: boolean } = {}): Promise<MockModel> {
  const { port = 0, keepBodies = true } = options;
  const requests: Seen[] = [];
  const mind = answerer();
  const gate = Promise.withResolvers<void>();
  let number = 0;

  const serve = (request: IncomingMessage, response: ServerResponse, raw: Buffer) => {
    const path = request.url ?? '/';
    const wire = wireOf(path);
    if (!wire) return aside(path, response, requests, mind.forget);
    const body = parsed(raw);
    if (!body) return sendJson(response, 400, wire.error(400, false));
    const asked = wire.read(body);
    const at = performance.timeOrigin + performance.now();
    const seen: Seen = { number: ++number, api: wire.api, path, headers: request.headers, bytes: raw.length, asked, at };
    requests.push(keepBodies ? { ...seen, body } : seen);
    if (requests.length > 1000) requests.shift();
    const answer = mind.answer(asked);
    const facts = factsOf(number, body, raw.length, answer);
    const reply = () => send(response, wire, answer, facts, wire.streams(body, path));
    if (answer.isHeld) void gate.promise.then(reply);
    else if (answer.delayMs) setTimeout(reply, answer.delayMs);
    else reply();
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => serve(request, response, chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
  });
  server.keepAliveTimeout = 120_000;
  server.listen(port, '127.0.0.1');
  await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject));
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    requests,
    bodies: () => requests.flatMap(({ body }) => (body ? [body] : [])),
    release: gate.resolve,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function wireOf(path: string): Wire | undefined {
  const end = path.split('?', 1)[0] ?? path;
  if (end.endsWith('/chat/completions')) return chat;
  if (end.endsWith('/messages')) return messages;
  if (end.endsWith('/responses')) return responses;
  return /:(?:streamG|g)enerateContent$/.test(end) ? google : undefined;
}

function send(response: ServerResponse, wire: Wire, answer: Answer, facts: Facts, streamed: boolean): void {
  if (answer.status) {
    const headers = answer.status === 429 ? { 'retry-after': '1' } : {};
    return sendJson(response, answer.status, wire.error(answer.status, answer.overflow ?? false), headers);
  }
  if (!streamed && answer.cut) return void response.destroy();
  if (!streamed) return sendJson(response, 200, wire.whole(answer, facts));
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  const frames = wire.frames(answer, facts);
  if (answer.cut) return void response.write(frames.join(''), () => response.destroy());
  if (answer.everyMs) return drip(response, frames, answer.everyMs);
  response.end(frames.join(''));
}

function drip(response: ServerResponse, frames: readonly string[], everyMs: number): void {
  const rest = [...frames];
  response.write(rest.shift());
  const timer = setInterval(() => {
    const next = rest.shift();
    if (next === undefined || response.destroyed) {
      clearInterval(timer);
      response.end();
    } else response.write(next);
  }, everyMs);
}

/** What is no model call: the model list, and for a driver in another process what was seen. */
function aside(path: string, response: ServerResponse, requests: Seen[], forget: () => void): void {
  const { pathname, searchParams } = new URL(path, 'http://mock');
  if (pathname.endsWith('/models')) {
    return sendJson(response, 200, { object: 'list', data: [{ id: 'm', object: 'model', created: 0, owned_by: 'mock' }] });
  }
  if (pathname === '/__requests') {
    const since = Number(searchParams.get('since') ?? 0);
    return sendJson(response, 200, { requests: requests.filter(({ number }) => number > since) });
  }
  if (pathname === '/__reset') {
    requests.length = 0;
    forget();
  }
  sendJson(response, pathname === '/__reset' || pathname === '/health' ? 200 : 404, { path });
}

function factsOf(id: number, body: Json, bytes: number, answer: Answer): Facts {
  const [input, output, cached] = answer.usage ?? [Math.ceil(bytes / 4), Math.max(1, answer.deltas.length), 0];
  const options = body['stream_options'] as Json | undefined;
  return {
    id,
    model: typeof body['model'] === 'string' ? body['model'] : 'm',
    input,
    output,
    cached,
    usage: options?.['include_usage'] === true,
  };
}

function parsed(raw: Buffer): Json | undefined {
  try {
    return JSON.parse(raw.toString('utf8')) as Json;
  } catch {
    return undefined;
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

if (import.meta.main) {
  const at = process.argv.indexOf('--port');
  const mock = await startMock({ port: at < 0 ? 0 : Number(process.argv[at + 1]), keepBodies: false });
  console.log(`mock model at ${mock.url}`);
  const stop = () => void mock[Symbol.asyncDispose]();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, stop);
}

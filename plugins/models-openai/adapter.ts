import type { IncomingMessage } from 'node:http';
import { attemptOf, type Attempt, type AttemptFailure, type Model, type ModelAdapter, type ModelRequest } from '../models/contract.ts';
import { eventReader } from './events.ts';
import { exchange, type Connections, type Reader } from './exchange.ts';
import { collector } from './reply.ts';
import { bodyOf } from './wire.ts';

/** Characters that are read of an error, and of an answer that came whole. */
const errorLimit = 64 * 1024;
const wholeLimit = 16 * 1024 * 1024;

/** OpenAI's chat completions, as OpenAI and all that imitate it speak it. */
export function completions(pool: Connections, userAgent: string): ModelAdapter {
  return {
    api: 'openai-completions',
    async complete(request, on): Promise<Attempt> {
      const reply = collector(on, () => callIds(request));
      const reader = readerOf(reply);
      const outgoing = { url: urlOf(request.model), headers: headersOf(request, userAgent), body: bodyOf(request), signal: request.signal };
      const lost = await exchange(pool, outgoing, reader);
      const refused = lost?.code === 'MODEL_ABORTED' ? undefined : reader.failure();
      const collected = reply.end();
      // What the reply itself says went wrong is nearer to the cause than how the connection ended.
      const failure = refused ?? (lost?.code === 'MODEL_STREAM_CUT' && collected.failure ? collected.failure : lost) ?? collected.failure;
      return attemptOf(request.model, collected, failure);
    },
  };
}

const urls = new WeakMap<Model, URL>();

function urlOf(model: Model): URL {
  let url = urls.get(model);
  if (!url) urls.set(model, (url = new URL(`${model.baseUrl.replace(/\/+$/, '')}/chat/completions`)));
  return url;
}

function headersOf({ model, apiKey }: ModelRequest, userAgent: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'user-agent': userAgent,
    ...(apiKey && { authorization: `Bearer ${apiKey}` }),
    ...model.headers,
  };
}

function callIds({ messages }: ModelRequest): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const message of messages) if (message.role === 'toolResult') ids.add(message.toolCallId);
  return ids;
}

/** Reads an event stream, an answer that came whole, or an error. */
function readerOf(reply: ReturnType<typeof collector>): Reader & { failure(): AttemptFailure | undefined } {
  const events = eventReader(reply.take);
  let response: IncomingMessage | undefined;
  let streamed = false;
  let text = '';
  return {
    head(head) {
      response = head;
      streamed = head.statusCode === 200 && (head.headers['content-type'] ?? '').includes('event-stream');
    },
    text(piece) {
      if (streamed) events(piece);
      else if (response?.statusCode === 200 || text.length < errorLimit) text += piece;
      if (text.length > wholeLimit) throw new RangeError(`an answer of over ${wholeLimit} characters`);
    },
    isOver: reply.isOver,
    isFaulty: reply.isFaulty,
    failure() {
      if (!response || streamed) return undefined;
      const status = response.statusCode ?? 0;
      if (status < 200 || status > 299) {
        return { code: 'MODEL_HTTP', message: `HTTP ${status}`, status, headers: response.headers, body: text.slice(0, 4096) };
      }
      return takeWhole(reply, text, response.headers['content-type']);
    },
  };
}

/** A server that ignores `stream`, or calls its stream by another name. */
function takeWhole(reply: ReturnType<typeof collector>, text: string, type: string | undefined): AttemptFailure | undefined {
  if (/^\s*data:/.test(text)) {
    eventReader(reply.take)(`${text}\n\n`);
    return undefined;
  }
  if (/^\s*\{.*"(?:choices|error)"/s.test(text)) {
    reply.take(text);
    return undefined;
  }
  return { code: 'MODEL_BAD_REPLY', message: `"${type ?? 'nothing'}" in place of an event stream`, body: text.slice(0, 4096) };
}

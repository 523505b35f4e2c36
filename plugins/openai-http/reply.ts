import type { Exchange } from '../gateway/contract.ts';
import { chunk, completion, type Head, type Outcome, usageChunk } from './completion.ts';
import type { ApiError } from './api-error.ts';

/** How an answer goes out: at once, or as it is made. */
export interface Reply {
  /** A delta of a message. Returns a promise where the client reads too slowly. */
  text(messageId: string, delta: string): void | Promise<void>;
  finish(outcome: Outcome): void;
  /** For what went wrong before there was an outcome. */
  fail(error: ApiError): void;
}

export function wholeReply(exchange: Exchange, head: Head): Reply {
  const reply: Reply = {
    text() {},
    finish(outcome) {
      if ('error' in outcome) reply.fail(outcome.error);
      else exchange.reply(200, completion(head, outcome.text, outcome.finish, outcome.usage), requestId(head));
    },
    fail: (error) => refuse(exchange, head, error),
  };
  return reply;
}

/** Past this a client is shown that its request lives. Until then an error can still be an HTTP status. */
const silentMs = 10_000;

export function streamedReply(exchange: Exchange, head: Head, includeUsage: boolean): Reply {
  let stream: ReturnType<Exchange['stream']> | undefined;
  let message: string | undefined;
  const begin = () => {
    clearTimeout(silence);
    if (stream) return stream;
    for (const [name, value] of Object.entries(requestId(head))) exchange.raw.response.setHeader(name, value);
    stream = exchange.stream();
    void stream.send(chunk(head, { role: 'assistant', content: '' }, null, includeUsage));
    return stream;
  };
  const silence = setTimeout(begin, silentMs);
  const say = (text: string) => begin().send(chunk(head, { content: text }, null, includeUsage));
  const reply: Reply = {
    text(messageId, delta) {
      const isNext = message !== undefined && message !== messageId;
      message = messageId;
      return say(isNext ? `\n\n${delta}` : delta); // one before a tool call, one after it
    },
    finish(outcome) {
      if ('error' in outcome) return reply.fail(outcome.error);
      if (message === undefined && outcome.text) void say(outcome.text);
      const out = begin();
      void out.send(chunk(head, {}, outcome.finish, includeUsage));
      if (includeUsage) void out.send(usageChunk(head, outcome.usage));
      void out.send('[DONE]');
      return void out.end();
    },
    fail(error) {
      clearTimeout(silence);
      if (!stream) return refuse(exchange, head, error);
      void stream.send(JSON.stringify(error.body));
      return void stream.end();
    },
  };
  return reply;
}

/** The client library would send a failed request again by itself; a turn that ran must not run thrice. */
const refuse = (exchange: Exchange, head: Head, { status, body }: ApiError) =>
  exchange.reply(status, body, { 'x-should-retry': 'false', ...requestId(head) });

const requestId = ({ id }: Head) => ({ 'x-request-id': id });

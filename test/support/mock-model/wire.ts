import type { IncomingHttpHeaders } from 'node:http';
import type { Answer, Asked } from './answer.ts';

export type Json = Readonly<Record<string, unknown>>;

/** One protocol: how it asks, how it is answered. Events are whole server-sent frames. */
export interface Wire {
  readonly api: string;
  read(body: Json): Asked;
  streams(body: Json, path: string): boolean;
  /** Frames up to the end, or up to where the answer is cut. */
  frames(answer: Answer, facts: Facts): readonly string[];
  whole(answer: Answer, facts: Facts): unknown;
  error(status: number, overflow: boolean): unknown;
}

export interface Facts {
  readonly id: number;
  readonly model: string;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly usage: boolean;
}

/** One request as the mock saw it. */
export interface Seen {
  readonly number: number;
  readonly api: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: number;
  readonly asked: Asked;
  /** Left out where the mock runs as a process: bodies add up. */
  readonly body?: Json;
  /** Milliseconds since 1970, with fractions. */
  readonly at: number;
}

export const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);

/** The text of a content, whatever its form. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((part) => part['text'] ?? part['content'])
    .filter((text) => typeof text === 'string')
    .join('\n');
}

/** Follows a conversation to what is asked now. */
export function follow() {
  let texts: string[] = [];
  let [results, messages, images] = [0, 0, 0];
  let [system, lastResult] = ['', ''];
  let answered = false;
  return {
    system(text: string) {
      messages++;
      system += text;
    },
    user(text: string) {
      messages++;
      if (answered) {
        texts = [];
        results = 0;
        answered = false;
      }
      texts.push(text);
    },
    assistant(calls: boolean) {
      messages++;
      if (!calls) answered = true;
    },
    result(text: string) {
      messages++;
      results++;
      lastResult = text;
    },
    image(count: number) {
      images += count;
    },
    asked: (offered: readonly unknown[]): Asked => ({
      texts,
      results,
      lastResult,
      system,
      messages,
      images,
      offered: offered.map(String),
    }),
  };
}

export const message = (status: number, overflow: boolean): string => {
  if (overflow) return "This model's maximum context length is 128000 tokens, your messages resulted in 140000 tokens.";
  if (status === 429) return 'Rate limit reached. Please try again in 1s.';
  if (status === 401) return 'Incorrect API key provided.';
  return status >= 500 ? 'The server had an error while processing your request.' : 'The request was not understood.';
};

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { completions } from '../../../plugins/models-openai/adapter.ts';
import { connections } from '../../../plugins/models-openai/exchange.ts';
import type { Attempt, Model, ModelEvent, ModelRequest } from '../../../plugins/models/contract.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, body: Readonly<Record<string, unknown>>) => void;

export const modelAt = (baseUrl: string, more: Partial<Model> = {}): Model => ({
  provider: 'p',
  id: 'm',
  name: 'm',
  api: 'openai-completions',
  baseUrl,
  contextWindow: 100_000,
  maxTokens: 4096,
  input: ['text'],
  reasoning: false,
  ...more,
});

export interface Answered extends Attempt {
  readonly events: readonly ModelEvent[];
}

/** The adapter against a server that answers what the test says. */
export async function scripted(handle: Handler) {
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    request.on('end', () => handle(request, response, JSON.parse(text) as Record<string, unknown>));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const pool = connections({});
  const adapter = completions(pool, 'instar/test');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    server,
    url,
    async ask(more: Partial<ModelRequest> = {}, model: Partial<Model> = {}): Promise<Answered> {
      const events: ModelEvent[] = [];
      const request: ModelRequest = {
        model: modelAt(url, model),
        system: '',
        tools: [],
        apiKey: undefined,
        signal: new AbortController().signal,
        messages: [{ role: 'user', content: 'hello', timestamp: 1 }],
        ...more,
      };
      return { ...(await adapter.complete(request, (event) => events.push(event))), events };
    },
    async [Symbol.asyncDispose]() {
      await pool[Symbol.asyncDispose]();
      server.close().closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Answers every request with these events. */
export const stream =
  (chunks: readonly (object | string)[]): Handler =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(chunks.map((chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`).join(''));
  };

export const delta = (said: object, finish_reason: string | null = null) => ({ choices: [{ index: 0, delta: said, finish_reason }] });
export const call = (more: object, name?: string, args?: unknown) =>
  delta({ tool_calls: [{ ...more, function: { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) } }] });

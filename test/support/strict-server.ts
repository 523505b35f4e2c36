import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chatFaults } from './validators/chat.ts';
import { googleFaults } from './validators/google.ts';
import { messagesFaults } from './validators/messages.ts';
import { responsesFaults } from './validators/responses.ts';
import type { Json } from './validators/rules.ts';

export type StrictApi = 'openai-completions' | 'openai-responses' | 'anthropic-messages' | 'google-generative-ai';

export interface StrictRequest {
  readonly api: StrictApi;
  readonly body: Json;
  /** What the provider would refuse it for. */
  readonly faults: readonly string[];
}

export type AnswerWith = (request: StrictRequest, response: ServerResponse) => void;

/** A server of all protocols that judges each request by its provider's published rules. */
export async function strictServer(answer: AnswerWith) {
  const requests: StrictRequest[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const request = judged(incoming.url ?? '', Buffer.concat(chunks).toString('utf8'));
      requests.push(request);
      answer(request, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.close().closeAllConnections();
      await once(server, 'close');
    },
  };
}

function judged(path: string, raw: string): StrictRequest {
  const body = JSON.parse(raw) as Json;
  const end = path.split('?', 1)[0] ?? '';
  const modelId = /models\/([^:]+):/.exec(end)?.[1] ?? String(body['model']);
  if (end.endsWith('/chat/completions')) return { api: 'openai-completions', body, faults: chatFaults(body, raw) };
  if (end.endsWith('/responses')) return { api: 'openai-responses', body, faults: responsesFaults(body, raw) };
  if (end.endsWith('/messages')) return { api: 'anthropic-messages', body, faults: messagesFaults(body, raw) };
  return { api: 'google-generative-ai', body, faults: googleFaults(body, raw, modelId) };
}

/** Says nothing of use: for tests of what was sent. */
export const refuse: AnswerWith = (_, response) => {
  response.writeHead(418, { 'content-type': 'application/json' });
  response.end('{"error":{"message":"judged","type":"test"}}');
};

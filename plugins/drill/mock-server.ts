import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import table from './faults.json' with { type: 'json' };

const { createServer } = process.getBuiltinModule('node:http');

export type Fault = keyof typeof table;
export const faults = Object.keys(table) as readonly Fault[];

/** One request as it came: the model as `provider/id`, and the key that was sent. */
export interface Seen {
  readonly model: string;
  readonly key: string;
  readonly fault: Fault | undefined;
}

/** A model server on this machine that speaks OpenAI's chat completions and fails as it is told to. */
export interface MockServer extends AsyncDisposable {
  /** `baseUrl` of a provider. */
  urlOf(provider: string): string;
  readonly seen: Seen[];
  /** Decides how a request ends; undefined: well. */
  fails: (request: Omit<Seen, 'fault'>) => Fault | undefined;
}

export async function startMock(): Promise<MockServer> {
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (piece: string) => (text += piece));
    request.on('end', () => serve(request, response, text));
  });
  await new Promise<void>((resolve, reject) => server.listen(0, '127.0.0.1', resolve).once('error', reject));
  const { port } = server.address() as AddressInfo;

  function serve(request: IncomingMessage, response: ServerResponse, text: string) {
    const provider = decodeURIComponent(/^\/([^/]+)\//.exec(request.url ?? '')?.[1] ?? '');
    const { model: id } = JSON.parse(text) as { readonly model: string };
    const asked = { model: `${provider}/${id}`, key: (request.headers.authorization ?? '').replace(/^Bearer /, '') };
    const fault = mock.fails(asked);
    mock.seen.push({ ...asked, fault });
    if (fault === undefined) return json(response, 200, completion(id));
    const how = table[fault];
    if ('status' in how) json(response, how.status, { error: how.error });
    // else it never answers: whoever asked gives up, and the connection ends with the mock
  }

  const mock: MockServer = {
    urlOf: (provider) => `http://127.0.0.1:${port}/${encodeURIComponent(provider)}/v1`,
    seen: [],
    fails: () => undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
  return mock;
}

function json(response: ServerResponse, status: number, body: unknown) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

const completion = (id: string) => ({
  id: 'drill',
  object: 'chat.completion',
  model: id,
  choices: [{ index: 0, message: { role: 'assistant', content: `${id} answers` }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
});

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Page {
  readonly status?: number;
  readonly type?: string;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Site extends AsyncDisposable {
  readonly url: string;
  readonly host: string;
  readonly asked: readonly Asked[];
}

/** A web server on this machine; `answer` gets what was asked. */
export async function site(answer: (asked: Asked) => Page): Promise<Site> {
  const asked: Asked[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const one: Asked = { method: request.method ?? '', url: new URL(request.url ?? '/', 'http://x'), headers: request.headers, body };
    asked.push(one);
    const { status = 200, type = 'text/html', body: out = '', headers = {} } = answer(one);
    response.writeHead(status, { ...(type && { 'content-type': type }), ...headers }).end(out);
  };
  const server = createServer((request, response) => void handle(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}`,
    host,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

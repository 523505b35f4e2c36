import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

export interface HttpServer extends AsyncDisposable {
  readonly port: number;
  readonly asked: readonly IncomingMessage['headers'][];
  /** Adds a tool to every session. */
  grow(name: string): void;
}

/** An MCP server on streamable HTTP, with sessions. `refuse` answers in its place. */
export async function httpServer(
  port = 0,
  refuse: (request: IncomingMessage) => { readonly status: number; readonly location?: string } | undefined = () => undefined,
): Promise<HttpServer> {
  const sessions = new Map<string, { readonly transport: StreamableHTTPServerTransport; readonly server: McpServer }>();
  const asked: IncomingMessage['headers'][] = [];
  const open = async () => {
    const server = new McpServer({ name: 'http', version: '1' });
    server.registerTool('hello', { description: 'Says hello' }, () => ({ content: [{ type: 'text', text: 'hello' }] }));
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, { transport, server }),
    });
    await server.connect(transport);
    return transport;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    asked.push(request.headers);
    const refused = refuse(request);
    const id = request.headers['mcp-session-id'];
    const known = sessions.get(String(id));
    if (refused) response.writeHead(refused.status, refused.location === undefined ? {} : { location: refused.location }).end();
    else if (id !== undefined && !known) response.writeHead(404).end();
    else await (known?.transport ?? (await open())).handleRequest(request, response);
  };
  const http = createServer((request, response) => void answer(request, response));
  await once(http.listen(port, '127.0.0.1'), 'listening');
  return {
    port: (http.address() as AddressInfo).port,
    asked,
    grow(name) {
      for (const { server } of sessions.values())
        server.registerTool(name, { description: name }, () => ({ content: [{ type: 'text', text: name }] }));
    },
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((done) => http.close(done));
    },
  };
}

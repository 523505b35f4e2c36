import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { CommandHost } from '../../../plugins/cli/contract.ts';

type Methods = Readonly<Record<string, (params: Record<string, unknown>, send: (event: object) => void, socket: WebSocket) => unknown>>;

/** A WebSocket server that speaks the gateway's frames, and answers as the test says. */
export async function fakeGateway(methods: Methods) {
  const http = createServer((_, response) => response.writeHead(401).end('{"error":{"message":"the token is wrong"}}'));
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'instar' });
  http.on('upgrade', (request, socket, head) => {
    if (!request.headers['sec-websocket-protocol']?.includes(Buffer.from('right').toString('base64url'))) {
      socket.destroy();
      return;
    }
    sockets.handleUpgrade(request, socket, head, (client) => {
      client.on('message', (data) => {
        const { id, method, params } = JSON.parse((data as Buffer).toString()) as {
          id: number;
          method: string;
          params: Record<string, unknown>;
        };
        const send = (event: object) => client.send(JSON.stringify({ event: 'live', data: event }));
        const result = methods[method]?.(params, send, client) ?? {};
        client.send(JSON.stringify({ id, ok: true, result }));
      });
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return {
    url,
    async [Symbol.asyncDispose]() {
      for (const client of sockets.clients) client.terminate();
      http.close();
      http.closeAllConnections();
      await once(http, 'close');
    },
  };
}

/** A host whose state folder is held by the gateways at these addresses, one after the other. */
export function hostOf(home: string, urls: string[], token = 'right'): CommandHost {
  return {
    version: '1',
    home,
    env: { INSTAR_GATEWAY_TOKEN: token },
    configFile: undefined,
    commands: new Map(),
    takeLock: async () => undefined,
    readHolder: async () => ({ pid: process.pid, mode: 'gateway', started: '', url: urls.length > 1 ? urls.shift() : urls[0] }),
    readConfig: async () => ({ file: undefined, texts: new Map(), values: {}, problems: [], place: (path) => path }),
    boot: () => Promise.reject(new Error('nothing is booted here')),
    ask: () => Promise.reject(new Error('nobody is asked here')),
  };
}

import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type EnterRun, KernelError, type Leasable, type Log, messageOf, type Run } from '../../kernel/index.ts';
import { type Clients, openClients } from './clients.ts';
import { refusal, type Refusal } from './contract.ts';
import { Door } from './door.ts';
import { Failures } from './failures.ts';
import { namesUs } from './origin.ts';
import { errorBody, refusalOf } from './refusal.ts';

/** The socket that is listened on, with all its connections. Outlives reloads; knows no rule but whom it is addressed by. */
export interface Listener extends Leasable, Pick<Clients, 'keepOnly'> {
  readonly port: number;
  readonly failures: Failures;
  /** From now on `/healthz` says so. */
  live(): void;
}

const { createServer } = process.getBuiltinModule('node:http');

const connections = 512;
const timeouts = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
};

const loopback = '127.0.0.1';

export async function listen(wanted: number, place: string, enter: EnterRun, log: Log): Promise<Listener> {
  const failures = new Failures();
  const clients = openClients((call, client) => enter((run) => run.get(Door).invoke(call.method, call.params, client, run)));
  let isLive = false;

  const take = (request: IncomingMessage, response: ServerResponse) => {
    response.on('error', () => {}); // a client that went away in mid-answer; `flushed` tells who waits for it
    if (!namesUs(request.headers.host)) return tell(response, strangeHost());
    if (request.url?.split('?', 1)[0] === '/healthz') return health(response, isLive);
    if (!server.listening) return tell(response, closing);
    enter((run) => run.get(Door).request(request, response, run)).catch((error: unknown) => tell(response, refusalOf(error) ?? closing));
  };

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => {}); // it closes by itself, and nobody waits for it yet
    const admit = async (run: Run) => {
      if (!namesUs(request.headers.host)) throw strangeHost();
      if (!server.listening) throw refusal(closing.status, closing.code, closing.message, closing.headers);
      return run.get(Door).upgrade(request, run);
    };
    enter(admit)
      .then((admission) => clients.accept(request, socket, head, admission))
      .catch((error: unknown) => hangUp(socket, refusalOf(error) ?? closing));
  };

  const server = createServer(timeouts)
    .on('request', take)
    .on('checkContinue', take)
    .on('upgrade', upgrade)
    .on('clientError', (error: NodeJS.ErrnoException, socket) => hangUp(socket, unreadable(error)));
  server.maxConnections = connections;
  await bind(server, wanted, place);
  server.on('error', (error) => log.error('the listening socket failed', { error }));
  const { port } = server.address() as AddressInfo;

  return {
    port,
    failures,
    live: () => void (isLive = true),
    keepOnly: (tokenId) => clients.keepOnly(tokenId),
    retire() {
      isLive = false;
      server.close();
    },
    resume() {
      isLive = true;
      server.listen(port, loopback);
    },
    async [Symbol.asyncDispose]() {
      isLive = false;
      server.close();
      await clients.close();
      server.closeAllConnections(); // whoever had a run has finished it by now
    },
  };
}

async function bind(server: Server, port: number, place: string) {
  try {
    server.listen(port, loopback);
    await once(server, 'listening'); // rejects on `error`
  } catch (error) {
    throw cannotListen(error as NodeJS.ErrnoException, port, place);
  }
}

function cannotListen(cause: NodeJS.ErrnoException, port: number, place: string): KernelError {
  const facts = { plugin: 'gateway', cause };
  const other = `choose another with --port or ${place}`;
  if (cause.code === 'EADDRINUSE') {
    const fix = `see which with "lsof -i :${port}" and stop it, or ${other}`;
    return new KernelError('GATEWAY_PORT_IN_USE', `port ${port} on ${loopback} is in use by another process; ${fix}`, facts);
  }
  return new KernelError('GATEWAY_CANNOT_LISTEN', `cannot listen on ${loopback}:${port}: ${messageOf(cause)}; ${other}`, facts);
}

const closing: Refusal = { status: 503, code: 'NOT_LIVE', message: 'the gateway is stopping', headers: { connection: 'close' } };
const strangeHost = () => refusal(403, 'GATEWAY_HOST', 'the Host header names another machine; use 127.0.0.1 or localhost');
const unreadable = ({ code }: NodeJS.ErrnoException): Refusal => {
  if (code === 'HPE_HEADER_OVERFLOW') return { status: 431, code: 'HTTP_HEADERS', message: 'the headers are too large' };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, code: 'HTTP_TIMEOUT', message: 'the request took too long' };
  return { status: 400, code: 'HTTP_REQUEST', message: 'the request cannot be read' };
};

/** Says only that this process takes in work; no run, no token, no generation is needed for it. */
function health(response: ServerResponse, isLive: boolean) {
  response.writeHead(isLive ? 200 : 503, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(`{"ok":${isLive}}`);
}

function tell(response: ServerResponse, told: Refusal) {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(told.status, { 'content-type': 'application/json', ...told.headers }).end(JSON.stringify(errorBody(told)));
}

/** A refusal on a bare socket. */
function hangUp(socket: Duplex, told: Refusal) {
  const content = JSON.stringify(errorBody(told));
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(content),
    connection: 'close',
    ...told.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  if (socket.writable) socket.end(`HTTP/1.1 ${told.status} Refused\r\n${lines.join('')}\r\n${content}`, () => socket.destroy());
  else socket.destroy();
}

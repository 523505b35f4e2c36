import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Host, isCoded, type Log, messageOf, nearest, type Run, service } from '../../kernel/index.ts';
import { checkLength } from './body.ts';
import { type Client, type Method, Methods, refusal, type Refusal, type Route, Routes } from './contract.ts';
import { HttpExchange } from './exchange.ts';
import type { Failures } from './failures.ts';
import { errorBody, refusalOf } from './refusal.ts';
import { checkOrigin, corsHeaders } from './origin.ts';
import { perGeneration, routeTable } from './routes.ts';
import { offeredToken, type Token } from './token.ts';

/** Who was let in as a WebSocket client. */
export interface Admission {
  readonly kind: string;
  readonly sender: Client['sender'];
  readonly tokenId: string;
  readonly hello: unknown;
}

export type Answer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: Pick<Refusal, 'code' | 'message'> };

/** What the listener asks of the generation that is current when something arrives: the rules live here, not in the socket. */
export interface Door {
  request(request: IncomingMessage, response: ServerResponse, run: Run): Promise<void>;
  /** Throws a refusal. */
  upgrade(request: IncomingMessage, run: Run): Admission;
  invoke(method: string, params: Readonly<Record<string, unknown>>, client: Client, run: Run): Promise<Answer>;
}
export const Door = service<Door>('gateway.door');

export interface DoorRules {
  readonly token: Token;
  readonly allowedOrigins: readonly string[];
  readonly bodyLimit: number;
  readonly failures: Failures;
  readonly log: Log;
}

export function openDoor(rules: DoorRules): Door {
  const { log, bodyLimit } = rules;
  const routes = perGeneration(async (run) => {
    const clash = ({ method, path }: Route) => log.warn(`two plugins answer ${method} ${path}; the first one does`);
    return routeTable(await run.call(Routes, []), clash);
  });
  const methods = perGeneration((run) => run.call(Methods, {}));

  /** The rules in their order: no secret in the query, origin, token, route, length; only then may anybody read the body. */
  const find = async (request: IncomingMessage, response: ServerResponse, url: URL, run: Run) => {
    refuseSecrets(url);
    if (checkOrigin(request.headers.origin, request.headers.host, rules.allowedOrigins)) {
      const cors = corsHeaders(String(request.headers.origin), request.headers['access-control-request-headers']);
      for (const [name, value] of Object.entries(cors)) response.setHeader(name, value);
      if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    }
    const route = (await routes(run)).find(request.method ?? '', url.pathname);
    if (!route || 'allow' in route || route.auth !== 'public') authenticate(request, rules);
    if (!route) throw refusal(404, 'GATEWAY_NO_ROUTE', `nothing answers ${request.method} ${url.pathname}`);
    if ('allow' in route) throw refusal(405, 'GATEWAY_NO_METHOD', `${url.pathname} takes ${route.allow}`, { allow: route.allow });
    checkLength(request, route.bodyLimit ?? bodyLimit);
    return route;
  };

  return {
    async request(request, response, run) {
      const began = performance.now();
      try {
        const url = urlOf(request);
        const route = await find(request, response, url, run);
        await route?.handle(new HttpExchange(request, response, url, route.bodyLimit ?? bodyLimit), run);
        if (!response.headersSent && !response.destroyed) throw new Error('the route gave no answer');
      } catch (error) {
        refuse(request, response, refusalOf(error) ?? explain(error, `${request.method} ${pathOf(request)}`, log));
      }
      log.debug(`${request.method} ${pathOf(request)} ${response.statusCode}`, { ms: performance.now() - began });
    },

    upgrade(request, run) {
      const url = urlOf(request);
      refuseSecrets(url);
      checkOrigin(request.headers.origin, request.headers.host, rules.allowedOrigins);
      if (url.pathname !== '/ws' && url.pathname !== '/') throw refusal(404, 'GATEWAY_NO_ROUTE', 'the WebSocket is at /ws');
      authenticate(request, rules);
      const kind = /^[\w-]{1,32}$/.exec(url.searchParams.get('client') ?? '')?.[0] ?? 'other';
      return { kind, sender: 'owner', tokenId: rules.token.id, hello: { version: run.get(Host).version, generation: run.generation } };
    },

    async invoke(name, params, client, run) {
      try {
        const method = methodOf(await methods(run), name);
        return { ok: true, result: await method(params, client, run) };
      } catch (error) {
        const { code, message } = deliberate(error) ?? explain(error, name, log);
        return { ok: false, error: { code, message } };
      }
    },
  };
}

function urlOf(request: IncomingMessage): URL {
  const url = URL.parse(`http://${request.headers.host}${request.url}`);
  if (!url || !request.url?.startsWith('/')) throw refusal(400, 'GATEWAY_URL', 'the address of the request cannot be read');
  return url;
}

/** Without the query, which may hold what must not be logged. */
const pathOf = ({ url = '' }: IncomingMessage) => url.split('?', 1)[0];

const secretParameters = ['token', 'access_token', 'auth_token', 'api_key', 'password'];

function refuseSecrets({ search, searchParams }: URL) {
  if (!search || !secretParameters.some((name) => searchParams.has(name))) return;
  const fix = 'send "Authorization: Bearer <token>", or open the page with #token=… in the address';
  throw refusal(400, 'GATEWAY_TOKEN_IN_QUERY', `a token in the query ends up in logs and histories, so none is taken there; ${fix}`);
}

function authenticate(request: IncomingMessage, { token, failures }: DoorRules) {
  const offered = offeredToken(request.headers);
  const challenge = { 'www-authenticate': 'Bearer' };
  const fix = 'send "Authorization: Bearer <token>" with the token that the gateway printed at its start';
  if (offered === undefined) throw refusal(401, 'GATEWAY_TOKEN_MISSING', `this needs the token of the gateway; ${fix}`, challenge);
  const address = request.socket.remoteAddress ?? '';
  const wait = failures.wait(address);
  if (wait > 0)
    throw refusal(429, 'GATEWAY_TOO_MANY_FAILURES', `too many wrong tokens; try again in ${wait} s`, { 'retry-after': `${wait}` });
  if (token.matches(offered)) return;
  failures.add(address);
  throw refusal(401, 'GATEWAY_TOKEN_WRONG', `the token is not the one of this gateway; ${fix}`, challenge);
}

function methodOf(methods: Readonly<Record<string, Method>>, name: string): Method {
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (method) return method;
  const near = nearest(name, Object.keys(methods));
  throw refusal(404, 'GATEWAY_NO_METHOD', `no method "${name}"${near ? `; did you mean "${near}"?` : ''}`);
}

function refuse(request: IncomingMessage, response: ServerResponse, told: Refusal) {
  if (response.headersSent) {
    response.destroy(); // in mid-answer only the cut tells
    return;
  }
  const content = JSON.stringify(errorBody(told));
  // A client that waits for "100 Continue" was never asked for its body: what comes next on this socket is unclear.
  const close = request.headers.expect ? { connection: 'close' } : {};
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store', ...close, ...told.headers };
  response.writeHead(told.status, { ...headers, 'content-length': Buffer.byteLength(content) }).end(content);
}

/** Said by a plugin to whoever calls, in words meant for him: nothing was wrapped, nothing broke. */
function deliberate(error: unknown): Pick<Refusal, 'code' | 'message'> | undefined {
  const isPlain = isCoded(error) && (error as Partial<Error>).name === 'KernelError' && !(error as Partial<Error>).cause;
  return refusalOf(error) ?? (isPlain ? error : undefined);
}

/** A failure of ours: logged in full, told in short, under one id. */
function explain(error: unknown, what: string, log: Log): Refusal {
  const id = randomBytes(4).toString('hex');
  log.error(`${what} failed`, { id, error });
  return { status: 500, code: isCoded(error) ? error.code : 'INTERNAL', message: `${messageOf(error)} (error ${id}, see the log)` };
}

import type { StreamableHTTPClientTransportOptions } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type EnterRun, KernelError, messageOf } from '../../kernel/index.ts';
import { secretOf } from '../secrets/contract.ts';
import { bounded } from './bounded.ts';
import { openFates } from './fates.ts';
import { listenMs, openListening } from './listening.ts';
import { maxMessageBytes } from './protocol.ts';
import type { ServerSettings } from './settings.ts';

type Fetch = NonNullable<StreamableHTTPClientTransportOptions['fetch']>;
const reconnectionOptions = {
  initialReconnectionDelay: listenMs,
  maxReconnectionDelay: 5000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 3,
};

/**
 * Streamable HTTP. The owner's config named the address, so it is not guarded as one that a model names; it does not
 * lead elsewhere, though: the headers hold the owner's keys. They are resolved for each request.
 */
export function connectHttp(name: string, { url = '', headers = {} }: ServerSettings, enter: EnterRun) {
  return async (signal: AbortSignal): Promise<Transport> => {
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const resolved = () =>
      enter((run) =>
        Promise.all(
          Object.entries(headers).map(
            async ([key, value]) => [key, (await secretOf(run, value, `mcp.servers.${name}.headers.${key}`)) ?? ''] as const,
          ),
        ),
      );
    /** What it says without end is no MCP, and it is not asked for more. */
    const tooLong = () => {
      const error = new KernelError('MCP_PROTOCOL', `it sent a message of more than ${maxMessageBytes / 1_000_000} MB`);
      transport.onerror?.(error);
      void transport.close();
      return error;
    };
    const transport = new StreamableHTTPClientTransport(new URL(url), { reconnectionOptions, fetch: fetchOf(name, resolved, tooLong) });
    signal.addEventListener('abort', () => void transport.close(), { once: true });
    return transport;
  };
}

function fetchOf(name: string, headers: () => Promise<readonly (readonly [string, string])[]>, tooLong: () => Error): Fetch {
  const fates = openFates();
  const listening = openListening();
  return async (to, init = {}) => {
    const all = new Headers(init.headers);
    for (const [key, value] of await headers()) all.set(key, value);
    const given = init.signal ? [init.signal] : [];
    const listen = init.method === 'GET' ? listening.begin(all.get('last-event-id')) : undefined;
    if (listen === 'refused') return new Response(null, { status: 405 });
    const fate = fates.of(init.body);
    const signal = AbortSignal.any([fate.signal, ...given]);
    const end = () => {
      fate.end();
      listen?.end();
    };
    const answer = await (listen?.turn(signal) ?? Promise.resolve())
      .then(() => fetch(to, { ...init, headers: all, redirect: 'error', signal }))
      .catch((cause: unknown) => {
        end();
        signal.throwIfAborted();
        const why = messageOf(cause instanceof Error ? (cause.cause ?? cause) : cause);
        // The rest of the address may hold a key.
        throw new KernelError('MCP_CALL', `mcp.servers.${name}.url (${new URL(to).origin}) did not answer: ${why}`, { cause });
      });
    const whole = bounded(answer, maxMessageBytes, tooLong, end);
    if (answer.ok) return listen?.heard(whole) ?? whole;
    if (init.method !== 'POST') return whole;
    throw new KernelError('MCP_CALL', await refusalOf(name, whole));
  };
}

async function refusalOf(name: string, answer: Response): Promise<string> {
  const { status } = answer;
  if (status === 401 || status === 403) {
    await answer.body?.cancel();
    return `it refused the request (HTTP ${status}); check mcp.servers.${name}.headers`;
  }
  const said = (await answer.text()).slice(0, 200).trim();
  return `it answered with HTTP ${status}${said && `: ${said}`}`;
}

import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type EnterRun, KernelError, messageOf } from '../../kernel/index.ts';
import { secretOf } from '../secrets/contract.ts';
import type { ServerSettings } from './settings.ts';

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
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      reconnectionOptions: { initialReconnectionDelay: 500, maxReconnectionDelay: 5000, reconnectionDelayGrowFactor: 2, maxRetries: 3 },
      async fetch(to, init) {
        const all = new Headers(init?.headers);
        for (const [key, value] of await resolved()) all.set(key, value);
        const answer = await fetch(to, { ...init, headers: all, redirect: 'error' }).catch((cause: unknown) => {
          init?.signal?.throwIfAborted();
          throw new KernelError(
            'MCP_CALL',
            `${url} did not answer: ${messageOf(cause instanceof Error ? (cause.cause ?? cause) : cause)}`,
            { cause },
          );
        });
        if (answer.ok || init?.method !== 'POST') return answer;
        throw new KernelError('MCP_CALL', await refusalOf(name, answer));
      },
    });
    signal.addEventListener('abort', () => void transport.close(), { once: true });
    return transport;
  };
}

async function refusalOf(name: string, answer: Response): Promise<string> {
  const { status } = answer;
  if (status === 401 || status === 403) return `it refused the request (HTTP ${status}); check mcp.servers.${name}.headers`;
  const said = (await answer.text()).slice(0, 200).trim();
  return `it answered with HTTP ${status}${said && `: ${said}`}`;
}

import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { CallToolResult, Tool as SdkTool } from '@modelcontextprotocol/sdk/types.js';

export type RawTool = SdkTool;
export type RawResult = CallToolResult;

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  onProgress(progress: { readonly progress: number; readonly total?: number | undefined; readonly message?: string | undefined }): void;
}

/** One message of a server: what is longer is no MCP. Room for a result's four images. */
export const maxMessageBytes = 30_000_000;

/** More would fill a prompt by themselves. */
const maxTools = 500;
const maxPages = 50;
const maxListChars = 5_000_000;

/** All pages. A server that never comes to an end is cut. */
export async function listTools(client: Client): Promise<readonly RawTool[]> {
  if (!client.getServerCapabilities()?.tools) return [];
  const { ListToolsResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const tools: RawTool[] = [];
  let cursor: string | undefined;
  let chars = 0;
  for (let page = 0; page < maxPages && tools.length < maxTools && chars < maxListChars; page++) {
    const answer = await client.request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, ListToolsResultSchema);
    tools.push(...answer.tools);
    chars += JSON.stringify(answer.tools).length;
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  return tools.slice(0, maxTools);
}

/** Not by `client.callTool`, which holds what the server says of its own results against it. */
export async function sendCall(
  client: Client,
  name: string,
  args: Readonly<Record<string, unknown>>,
  options: CallOptions,
): Promise<RawResult> {
  const { CallToolResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const { signal, timeoutMs } = options;
  return client.request({ method: 'tools/call', params: { name, arguments: { ...args } } }, CallToolResultSchema, {
    signal,
    timeout: timeoutMs,
    resetTimeoutOnProgress: true,
    maxTotalTimeout: timeoutMs * 10,
    onprogress: (progress) => options.onProgress(progress),
  });
}

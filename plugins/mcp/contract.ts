import { service } from '../../kernel/index.ts';

/** One server of `mcp.servers`, as it is now. */
export interface McpServer {
  readonly name: string;
  readonly state: 'connecting' | 'up' | 'down';
  /** Where it is not up: what happened, and what happens next. */
  readonly why?: string;
  /** As they are offered: `mcp__<server>__<tool>`. */
  readonly tools: readonly string[];
  /** Tools that the server has and that cannot be offered, and why. */
  readonly unusable: readonly { readonly tool: string; readonly why: string }[];
}

/** For status, pages and audits. */
export interface McpServers {
  list(): readonly McpServer[];
}
export const McpServers = service<McpServers>('mcp.servers');

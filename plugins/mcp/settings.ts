import { hash } from 'node:crypto';
import { type Host, joinKey, KernelError } from '../../kernel/index.ts';
import type { SecretInput } from '../secrets/contract.ts';

/** A block of `mcp.servers`, with its defaults. */
export interface ServerSettings {
  readonly enabled: boolean;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, SecretInput>>;
  readonly cwd?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, SecretInput>>;
  readonly allow: readonly string[];
  readonly connectTimeoutSeconds: number;
  readonly timeoutSeconds: number;
}

/** No two underscores in a row: they part server and tool. */
const validName = /^[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*$/;

/** What is wrong with a block that its schema cannot tell. */
export function faultOf(
  name: string,
  { command, url, headers, args, env, cwd }: ServerSettings,
  host: Pick<Host, 'place'>,
): KernelError | undefined {
  const at = host.place(joinKey('mcp.servers', name));
  const fault = (what: string) => new KernelError('MCP_CONFIG', `MCP server "${name}" ${what} (${at})`);
  if (!validName.test(name) || name.length > 32)
    return fault('has a name of other than letters, digits and single - or _ between them, or of more than 32');
  if (command === undefined && url === undefined) return fault('has neither a command nor a url; give one');
  if (command !== undefined && url !== undefined) return fault('has both a command and a url; remove one');
  if (command !== undefined && headers) return fault('has headers, which a command does not take; put them into env');
  if (url !== undefined && (args ?? env ?? cwd) !== undefined) return fault('has args, env or cwd, which a url does not take');
  const address = url === undefined ? undefined : URL.parse(url);
  if (address === null) return fault('has a url that is none');
  if (address?.username || address?.password) return fault('has a user or password in its url, which is not sent; put it into headers');
  return undefined;
}

/** One connection for one way to connect: `allow` and the like can change without a new one. Secrets are hashed. */
export function leaseKey(name: string, { command, args, env, cwd, url, headers, connectTimeoutSeconds }: ServerSettings): string {
  return `mcp:${name}:${hash('sha256', JSON.stringify([command, args, env, cwd, url, headers, connectTimeoutSeconds])).slice(0, 16)}`;
}

import type { Values } from '../../../kernel/index.ts';
import { type Finding, quoted, setting } from '../contract.ts';
import { type Found, valuesAt } from './paths.ts';

/** A rule that one value of the config is enough for. */
interface ValueRule {
  /** Where its values are; `*` is any key. */
  readonly at: string;
  readonly code: string;
  /** Undefined: all is well. */
  readonly judge: (found: Found) => Pick<Finding, 'severity' | 'message' | 'mend'> | undefined;
}

type Block = Readonly<Record<string, unknown>>;

const rules: readonly ValueRule[] = [
  {
    at: 'gateway.allowedOrigins.*',
    code: 'origin-http',
    judge: ({ value }) =>
      (isClear(value) && {
        severity: 'warning',
        message: `pages of ${String(value)} may use the gateway, and whoever is between can put his own script into them`,
        mend: `serve that page by https:, and write so in gateway.allowedOrigins`,
      }) ||
      undefined,
  },
  {
    at: 'fetch.allowPrivate.*',
    code: 'fetch-private',
    judge: ({ value }) => {
      const isWide = /[/*]/.test(String(value));
      const what = isWide ? 'all of' : '';
      return {
        severity: isWide ? 'warning' : 'note',
        message: `agents may fetch ${what && `${what} `}${String(value)}, which is in a private network; so may whoever writes what they read`,
        mend: isWide
          ? `name the hosts one by one: ${setting('fetch.allowPrivate', ['192.168.1.7'])}`
          : 'instar config unset fetch.allowPrivate',
      };
    },
  },
  { at: 'models.providers.*', code: 'key-in-clear', judge: (found) => inClear(found, 'baseUrl', ['apiKey', 'headers']) },
  { at: 'mcp.servers.*', code: 'key-in-clear', judge: (found) => inClear(found, 'url', ['headers']) },
  {
    at: 'mcp.servers.*.allow',
    code: 'mcp-unasked',
    judge: ({ path, value }) =>
      Array.isArray(value) && value.includes('*')
        ? {
            severity: 'warning',
            message: `every tool of this MCP server runs without a question, those too that a later version brings`,
            mend: `name the tools that may: ${setting(path, ['search'])}`,
          }
        : undefined,
  },
  {
    at: 'mcp.servers.*',
    code: 'mcp-unpinned',
    judge: ({ path, value }) => {
      const { command, args } = value as { command?: unknown; args?: unknown };
      const fetched = unpinned(command, args);
      return fetched === undefined
        ? undefined
        : {
            severity: 'warning',
            message: `each start runs whatever version of ${fetched} is the newest then`,
            mend: `name a version in ${quoted(`${path}.args`)}, such as ${fetched}@1.2.3`,
          };
    },
  },
  {
    at: 'secrets.providers.*.allowInsecurePath',
    code: 'secrets-insecure-path',
    judge: ({ path, value }) =>
      value === true
        ? {
            severity: 'warning',
            message: 'secrets are read from a file or program that other users of this machine may write',
            mend: `instar config unset ${quoted(path)}`,
          }
        : undefined,
  },
  {
    at: 'tools.exec.ask',
    code: 'ask-off',
    judge: ({ value }) =>
      value === 'off'
        ? {
            severity: 'note',
            message: 'nobody is asked about commands: what is not allowed is denied',
            mend: setting('tools.exec.ask', 'on-miss'),
          }
        : undefined,
  },
];

export const configFindings = (config: Values): readonly Finding[] =>
  rules.flatMap(({ at, code, judge }) =>
    valuesAt(config, at).flatMap((found) => {
      const judged = judge(found);
      return judged ? [{ code, path: found.path, ...judged }] : [];
    }),
  );

const here = /^(localhost|127(\.\d+){3}|\[::1\])$/;
const nearby = /^(10(\.\d+){3}|192\.168(\.\d+){2}|172\.(1[6-9]|2\d|3[01])(\.\d+){2}|[^.]+|.*\.(local|lan|internal|home\.arpa))$/;

/** Whether it goes over a network as everybody on the way can read it. */
function isClear(value: unknown): boolean {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  return url?.protocol === 'http:' && !here.test(url.hostname);
}

function inClear({ path, value }: Found, address: string, secrets: readonly string[]) {
  const block = (value ?? {}) as Block;
  const at = block[address];
  const sent = secrets.filter((name) => block[name] !== undefined);
  if (typeof at !== 'string' || !isClear(at) || sent.length === 0) return undefined;
  const { hostname } = new URL(at);
  return {
    severity: nearby.test(hostname) ? 'warning' : 'severe',
    message: `its ${sent.join(' and ')} ${sent.length > 1 ? 'go' : 'goes'} to ${hostname} by http:, for everybody on the way to read`,
    mend: setting(`${path}.${address}`, at.replace(/^http:/i, 'https:')),
  } as const;
}

/** The package that `npx` and its like fetch without a version. */
function unpinned(command: unknown, args: unknown): string | undefined {
  if (typeof command !== 'string' || !/(^|\/)(npx|bunx|uvx|pipx)$/.test(command) || !Array.isArray(args)) return undefined;
  const words = args.filter((word): word is string => typeof word === 'string' && !word.startsWith('-') && word !== 'run');
  const [name] = words;
  return name === undefined || /.@\d|==\d/.test(name) ? undefined : name;
}

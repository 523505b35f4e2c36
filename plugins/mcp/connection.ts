import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isCoded, KernelError, type Leasable, type Log, messageOf } from '../../kernel/index.ts';
import { untrustedLine } from '../prompt/contract.ts';
import { backoffMs } from './backoff.ts';
import { type CallOptions, listTools, type RawResult, type RawTool, sendCall } from './protocol.ts';

/** Makes a way to the server; what it starts ends when the transport is closed, or at the signal. */
export type Connect = (signal: AbortSignal) => Promise<Transport>;

/** One server, over reloads and reconnects. It knows no generation: what it needs of one comes through `Connect`. */
export interface Connection extends Leasable {
  readonly state: 'connecting' | 'up' | 'down';
  readonly why: string | undefined;
  readonly tools: readonly RawTool[];
  /** Another one whenever `state` or `tools` changed. */
  readonly version: number;
  /** Begins to connect; nothing where it did already. */
  start(): void;
  call(tool: string, args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<RawResult>;
  retire(): void;
  resume(): void;
}

export interface ConnectionOptions {
  readonly name: string;
  readonly version: string;
  readonly connectTimeoutMs: number;
  readonly connect: Connect;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Milliseconds before the n-th attempt in a row, from 1. */
  readonly delay?: (attempt: number) => number;
}

/** `fate` is what its transport said last of its end; `doubt` is there while a ping decides, or is soon to be sent. */
type Link = { readonly client: Client; readonly end: AbortController; fate?: string; doubt?: Promise<void> | undefined; pingedAt?: number };

/** A server that is noisy costs a listing and a ping a second, and no more. */
const quietMs = 1000;

export function openConnection({ name, version: ours, connectTimeoutMs, connect, log, delay = backoffMs }: ConnectionOptions): Connection {
  const closing = new AbortController();
  const status = {
    state: 'connecting' as Connection['state'],
    why: 'it has not been asked yet' as string | undefined,
    tools: [] as readonly RawTool[],
    version: 0,
  };
  let [link, timer, failures, isOn] = [undefined as Link | undefined, undefined as NodeJS.Timeout | undefined, 0, false];
  let connecting: Promise<void> | undefined;

  /** For a model that reads an error. */
  const theirs = (words: string) => untrustedLine(`MCP server ${name}`, words, 300);
  const change = (next: Partial<typeof status>) => Object.assign(status, next, { version: status.version + 1 });

  function begin() {
    clearTimeout(timer);
    timer = undefined;
    if (closing.signal.aborted || !isOn || link || connecting) return;
    connecting = attach().finally(() => (connecting = undefined));
  }

  /** Never rejects: a failure is a state, and the next attempt is planned. */
  async function attach(): Promise<void> {
    const end = new AbortController();
    const late = new KernelError('MCP_PROTOCOL', `it did not greet within ${connectTimeoutMs / 1000} s`);
    const stop = AbortSignal.any([AbortSignal.timeout(connectTimeoutMs), closing.signal]);
    const stopped = Promise.withResolvers<never>();
    stopped.promise.catch(() => {}); // it may greet in time
    stop.addEventListener('abort', () => stopped.reject(late), { once: true });
    const client = await makeClient(ours);
    const made: Link = { client, end };
    Object.assign(client, {
      onclose: () => lose(made, made.fate ?? 'the connection was closed'),
      onerror(error: Error) {
        if (isCoded(error) && ['MCP_LAUNCH', 'MCP_PROTOCOL'].includes(error.code)) made.fate = oneLineOf(error);
        doubt(made, error);
      },
    });
    try {
      const transport = await Promise.race([connect(end.signal), stopped.promise]);
      await Promise.race([client.connect(transport, { timeout: connectTimeoutMs }), stopped.promise]);
      await watchList(made);
      const tools = await Promise.race([listTools(client), stopped.promise]);
      stop.throwIfAborted();
      link = made;
      failures = 0;
      change({ state: 'up', why: undefined, tools });
      log.info(`MCP server "${name}" is up with ${tools.length} tools`);
    } catch (cause) {
      end.abort();
      failed(made.fate ?? oneLineOf(cause));
    }
  }

  function failed(why: string) {
    if (closing.signal.aborted) return;
    failures++;
    const wait = delay(failures);
    change({ state: 'down', why, tools: [] });
    if (failures === 1 || failures === 5)
      log.warn(`MCP server "${name}" is down: ${why}; it is tried again${failures === 5 ? ' from time to time' : ''}`);
    if (!isOn) return;
    timer = setTimeout(begin, wait);
    timer.unref();
  }

  async function watchList({ client, end: { signal } }: Link) {
    const { ToolListChangedNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js');
    let [isBusy, isStale] = [false, false];
    const refresh = async () => {
      isStale = true;
      if (isBusy) return;
      isBusy = true;
      while (isStale) {
        isStale = false;
        const tools = await listTools(client).catch((cause: unknown) => {
          log.warn(`MCP server "${name}" said that its tools changed, but did not list them: ${oneLineOf(cause)}`);
          return undefined;
        });
        if (tools && link?.client === client && !isDeepStrictEqual(tools, status.tools)) change({ tools });
        await pause(quietMs, undefined, { signal, ref: false }).catch(() => (isStale = false)); // it has ended
      }
      isBusy = false;
    };
    client.setNotificationHandler(ToolListChangedNotificationSchema, refresh);
  }

  /** It went away by itself. */
  function lose(gone: Link, why: string) {
    if (link !== gone) return;
    link = undefined;
    gone.end.abort();
    failed(why);
  }

  /** Some errors end a connection and some do not: whoever answers a ping is there. */
  function doubt(suspect: Link, error: unknown) {
    if (link !== suspect) return;
    suspect.doubt ??= ping(suspect, error).finally(() => (suspect.doubt = undefined));
  }

  async function ping(suspect: Link, error: unknown) {
    const { client, end, pingedAt = -quietMs } = suspect;
    const wait = pingedAt + quietMs - performance.now();
    if (wait > 0) await pause(wait, undefined, { signal: end.signal, ref: false }).catch(() => {}); // it has ended
    if (link !== suspect) return;
    suspect.pingedAt = performance.now();
    await client.ping({ timeout: 5000 }).catch(() => {
      lose(suspect, oneLineOf(error));
      return client.close().catch(() => {}); // it is gone already
    });
  }

  async function call(tool: string, args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<RawResult> {
    const used = link;
    if (!used) throw new KernelError('MCP_CALL', `MCP server "${name}" is ${status.state}: ${theirs(status.why ?? '')}`);
    try {
      return await sendCall(used.client, tool, args, options);
    } catch (cause) {
      options.signal.throwIfAborted();
      const isAnswer = isAnswerOf(cause) && link === used;
      if (!isAnswer) doubt(used, cause);
      throw new KernelError(
        'MCP_CALL',
        `${theirs(isAnswer ? oneLineOf(cause) : (used.fate ?? oneLineOf(cause)))}${isAnswer ? '' : '; whether it took effect is not known'}`,
        { cause },
      );
    }
  }

  async function drop() {
    clearTimeout(timer);
    const gone = link;
    link = undefined;
    if (!gone) return;
    await gone.client.close().catch(() => {}); // it is gone already
    gone.end.abort();
  }

  return {
    get state() {
      return status.state;
    },
    get why() {
      return status.why;
    },
    get tools() {
      return status.tools;
    },
    get version() {
      return status.version;
    },
    call,
    start() {
      isOn = true;
      begin();
    },
    retire() {
      isOn = false;
      clearTimeout(timer);
    },
    resume() {
      isOn = true;
      begin();
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await drop();
      await connecting;
    },
  };
}

async function makeClient(version: string): Promise<Client> {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  return new Client({ name: 'instar', version }, { capabilities: {} });
}

/** The server itself said no; a request that ran out of time (-32001) is none. */
const isAnswerOf = (cause: unknown) =>
  cause instanceof Error && cause.name === 'McpError' && (cause as Error & { readonly code?: unknown }).code !== -32_001;

/** Of a server's words what fits into a line of ours. */
export const oneLineOf = (cause: unknown): string =>
  messageOf(cause)
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, 300)
    .toWellFormed();

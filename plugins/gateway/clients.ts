import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket, WebSocketServer } from 'ws';
import type { Client } from './contract.ts';
import type { Admission, Answer } from './door.ts';
import { refusalOf } from './refusal.ts';
import { type Call, parseCall } from './frames.ts';

export const closeCodes = { stopping: 1001, onlyText: 1003, tooMany: 1008, tokenReplaced: 4001, tooSlow: 4008 } as const;

const limits = {
  /** Of one frame: a message with some pictures. */
  payload: 24 * 1024 * 1024,
  /** Unsent bytes past which `send` asks its caller to wait. */
  behind: 256 * 1024,
  /** Unsent bytes of events past which the client is cut off; it comes back and replays. What it asked for may be larger. */
  lost: 16 * 1024 * 1024,
  calls: 64,
  /** Of those, so many at work: the answers of a client that does not read are held in memory. */
  atWork: 16,
  pingMs: 30_000,
  /** A pong waits behind a large answer, which a slow link takes long for. A reader that stopped is held no longer than this. */
  answerMs: 600_000,
  goodbyeMs: 1_000,
};

export type Invoke = (call: Call, client: Client) => Promise<Answer>;

interface Connection {
  readonly socket: WebSocket;
  readonly tokenId: string;
  /** A large answer is on its way, or the system has just taken the last of it. */
  readonly mayBeLate: () => boolean;
  answers: boolean;
}

/** The WebSocket clients. Frames in, calls out: what a call means is not known here. */
export interface Clients {
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, admission: Admission): Promise<void>;
  /** Ends those that came with another token. */
  keepOnly(tokenId: string): void;
  close(): Promise<void>;
}

export function openClients(invoke: Invoke): Clients {
  const connections = new Set<Connection>();
  let server: Promise<WebSocketServer> | undefined;
  let pings: NodeJS.Timeout | undefined;
  let only: string | undefined;

  const ping = () => {
    for (const connection of connections) {
      if (!connection.answers && !connection.mayBeLate()) connection.socket.terminate();
      connection.answers = false;
      connection.socket.ping();
    }
  };

  const stopPings = () => {
    clearInterval(pings);
    pings = undefined;
  };

  const endOld = ({ socket, tokenId }: Connection) => {
    if (only !== undefined && tokenId !== only) socket.close(closeCodes.tokenReplaced, 'the token was replaced');
  };

  const join = (socket: WebSocket, wire: Duplex, { kind, sender: who, tokenId, hello }: Admission) => {
    const gone = new AbortController();
    const { send, reply, mayBeLate } = sender(socket, wire);
    const connection: Connection = { socket, tokenId, mayBeLate, answers: true };
    const client: Client = {
      id: randomBytes(6).toString('hex'),
      kind,
      sender: who,
      signal: gone.signal,
      send: (event, data) => send({ event, data }),
    };
    connections.add(connection);
    pings ??= setInterval(ping, limits.pingMs).unref();
    socket.on('close', () => {
      connections.delete(connection);
      if (connections.size === 0) stopPings();
      gone.abort(new Error('the client closed its socket'));
    });
    socket.on('error', () => {}); // a broken frame or socket: ws closes it, and `close` follows
    socket.on('pong', () => (connection.answers = true));
    const answer = answerer(socket, client, reply, invoke);
    socket.on('message', (data, isBinary) => void answer(data, isBinary));
    void client.send('hello', hello);
    endOld(connection); // let in by the generation before, and here only now
  };

  return {
    async accept(request, socket, head, admission) {
      server ??= import('ws').then((ws) => new ws.WebSocketServer(options));
      (await server).handleUpgrade(request, socket, head, (accepted) => join(accepted, socket, admission));
    },
    keepOnly(tokenId) {
      only = tokenId;
      for (const connection of connections) endOld(connection);
    },
    async close() {
      stopPings();
      await Promise.all([...connections].map(({ socket }) => sayGoodbye(socket)));
    },
  };
}

const options = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: limits.payload,
  // Never the token's own protocol: the answer's headers are for anybody to see.
  handleProtocols: (offered: ReadonlySet<string>) => (offered.has('instar') ? 'instar' : false),
} as const;

type Send = (frame: unknown) => void | Promise<void>;

/** `send` is for events, `reply` for answers to calls: these are as large as what was asked for, and settle once they are out. */
function sender(socket: WebSocket, wire: Duplex): { readonly send: Send; readonly reply: Send } & Pick<Connection, 'mayBeLate'> {
  const together = packing(wire);
  /** A large answer on its way, and its size: the next one is not even made into text before it is out. */
  let [large, asked]: [Promise<void> | undefined, number] = [undefined, 0];
  /** By the clock of `performance`. */
  let lateUntil = 0;
  const mayBeLateFor = (ms: number) => (lateUntil = performance.now() + ms);
  const put = (text: string): void | Promise<void> => {
    together();
    if (socket.bufferedAmount <= limits.behind) return socket.send(text);
    return new Promise((resolve) => socket.send(text, () => resolve()));
  };
  async function reply(frame: unknown): Promise<void> {
    if (large) {
      await large;
      return reply(frame); // another may have been first
    }
    if (socket.readyState !== socket.OPEN) return;
    const text = JSON.stringify(frame);
    const bytes = Buffer.byteLength(text);
    if (bytes <= limits.behind) return put(text);
    asked = bytes;
    mayBeLateFor(limits.answerMs);
    together();
    large = new Promise((resolve) => socket.send(text, () => resolve()));
    await large;
    [large, asked] = [undefined, 0];
    mayBeLateFor(2 * limits.pingMs); // what the system holds of it is still on its way, and the pings behind it
  }
  return {
    reply,
    mayBeLate: () => performance.now() < lateUntil,
    send(frame) {
      if (socket.readyState !== socket.OPEN) return;
      if (socket.bufferedAmount - asked > limits.lost) return socket.close(closeCodes.tooSlow, 'missed: replay from your cursor');
      return put(JSON.stringify(frame));
    },
  };
}

/** Frames of one turn of the event loop leave together: with a system call for each, a busy gateway spent a fifth of its time in them. */
function packing(wire: Duplex) {
  let isHeld = false;
  const letGo = () => {
    isHeld = false;
    wire.uncork();
  };
  return () => {
    if (isHeld) return;
    isHeld = true;
    wire.cork();
    setImmediate(letGo);
  };
}

function answerer(socket: WebSocket, client: Client, reply: Send, invoke: Invoke) {
  let calls = 0;
  const waiting: (() => void)[] = [];
  return async (data: RawData, isBinary: boolean) => {
    if (isBinary) return socket.close(closeCodes.onlyText, 'frames are text');
    if (calls >= limits.calls) return socket.close(closeCodes.tooMany, `more than ${limits.calls} calls at once`);
    if (++calls > limits.atWork) await new Promise<void>((begin) => waiting.push(begin));
    const frame = await answerTo((data as Buffer).toString(), client, invoke);
    try {
      await reply(frame);
    } catch {
      await reply({ id: frame.id, ...failed('the answer is nothing that JSON can hold') });
    }
    calls--;
    waiting.shift()?.();
  };
}

/** Never throws. */
async function answerTo(text: string, client: Client, invoke: Invoke): Promise<Answer & { readonly id: Call['id'] | null }> {
  let id: Call['id'] | null = null;
  try {
    const call = parseCall(text);
    id = call.id;
    return { id, ...(await invoke(call, client)) };
  } catch (error) {
    const { code, message } = refusalOf(error) ?? { code: 'INTERNAL', message: 'the call failed' };
    return { id, ok: false, error: { code, message } };
  }
}

const failed = (message: string) => ({ ok: false, error: { code: 'INTERNAL', message } });

/** Waits for the client's own goodbye, but not long. */
async function sayGoodbye(socket: WebSocket) {
  const closed = Promise.withResolvers<void>();
  socket.once('close', () => closed.resolve());
  socket.close(closeCodes.stopping, 'the gateway stops');
  const late = setTimeout(() => socket.terminate(), limits.goodbyeMs);
  await closed.promise;
  clearTimeout(late);
}

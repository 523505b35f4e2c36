import { once } from 'node:events';
import { type OutgoingHttpHeaders, request as open } from 'node:http';
import { WebSocket } from 'ws';
import { Gateway } from '../../../plugins/gateway/contract.ts';
import type { TestKernel } from '../../support/kernel.ts';

export interface Got {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
}

/** One request as bytes say it: any Host, any header; unlike fetch it hides nothing. */
export function ask(url: string, { method = 'GET', headers = {}, body }: Ask = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = open(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() }),
      );
      response.on('error', reject);
    });
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text: '' });
    });
    request.on('error', reject);
    request.end(body);
  });
}

export const gatewayOf = ({ kernel }: TestKernel) => kernel.run((run) => run.get(Gateway));

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
export const protocols = (token: string) => ['instar', `instar.token.${Buffer.from(token).toString('base64url')}`];

interface Frame {
  readonly id?: unknown;
  readonly ok?: boolean;
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
  readonly event?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** A WebSocket client that remembers every frame. */
export interface Peer extends AsyncDisposable {
  readonly socket: WebSocket;
  readonly frames: readonly Frame[];
  call(method: string, params?: object): Promise<Frame>;
  /** The first frame, seen or still to come, that fits. */
  frame(fits: (frame: Frame) => boolean): Promise<Frame>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

export async function connect(url: string, token: string, { path = '/ws?client=test', ...options } = {}): Promise<Peer> {
  const socket = new WebSocket(url.replace('http', 'ws') + path, protocols(token), options);
  const frames: Frame[] = [];
  let calls = 0;
  const frame: Peer['frame'] = async (fits) => {
    for (let i = 0; ; i++) {
      while (i >= frames.length) await once(socket, 'message');
      const one = frames[i];
      if (one && fits(one)) return one;
    }
  };
  socket.on('message', (data) => frames.push(JSON.parse((data as Buffer).toString())));
  const closed = once(socket, 'close').then(([code, reason]) => ({ code: code as number, reason: String(reason) }));
  await once(socket, 'open');
  return {
    socket,
    frames,
    frame,
    closed,
    call(method, params = {}) {
      const id = `c${++calls}`;
      socket.send(JSON.stringify({ id, method, params }));
      return frame((one) => one.id === id);
    },
    async [Symbol.asyncDispose]() {
      socket.terminate();
      await closed;
    },
  };
}

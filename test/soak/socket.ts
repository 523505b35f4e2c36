import type { Gateway } from '../support/instar.ts';

export interface Socket {
  /** The result of a method of the gateway. */
  ask<T>(method: string): Promise<T>;
  /** Sends one message and settles at the end of its turn. */
  turn(sessionKey: string, text: string): Promise<void>;
  close(): void;
}

interface Frame {
  readonly id?: number;
  readonly ok?: boolean;
  readonly result?: { readonly itemId?: string };
  readonly error?: { readonly message: string };
  readonly event?: string;
  readonly data?: Heard;
}

/** A live event, as far as it is looked at here. */
export interface Heard {
  readonly type?: string;
  readonly data?: {
    readonly itemId?: string;
    readonly error?: { readonly message: string };
    readonly payloads?: unknown;
    readonly message?: { readonly role?: string };
  };
}

/** A page, as far as the protocol goes: one socket that watches all sessions. `heard`: every live event, as it came. */
export async function openSocket(
  { url, token }: Pick<Gateway, 'url' | 'token'>,
  dropped: (why: string) => void,
  heard: (event: Heard) => void = () => {},
): Promise<Socket> {
  const secret = Buffer.from(token).toString('base64url');
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws?client=page`, ['instar', `instar.token.${secret}`]);
  const answers = new Map<number, (frame: Frame) => void>();
  const ends = new Map<string, Heard | undefined>();
  const waiting = new Map<string, (data: Heard | undefined) => void>();
  let [ids, closing] = [0, false];
  socket.addEventListener('close', ({ code }) => closing || dropped(`code ${code}`));
  socket.addEventListener('message', ({ data }) => {
    const frame = JSON.parse(String(data)) as Frame;
    if (frame.id !== undefined) {
      answers.get(frame.id)?.(frame);
      answers.delete(frame.id);
    }
    if (frame.event === 'live' && frame.data) heard(frame.data);
    const itemId = frame.event === 'live' && frame.data?.type === 'agent_end' ? frame.data.data?.itemId : undefined;
    if (itemId === undefined) return;
    const wake = waiting.get(itemId);
    if (wake) wake(frame.data);
    else ends.set(itemId, frame.data);
    if (ends.size > 1000) ends.delete(ends.keys().next().value ?? ''); // those of other clients
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', reject, { once: true });
  });
  const call = (method: string, params: object) =>
    new Promise<Frame>((resolve) => {
      const id = ++ids;
      answers.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
  await call('events.watch', {});
  return {
    async ask<T>(method: string) {
      const { ok, result, error } = await call(method, {});
      if (!ok) throw new Error(error?.message ?? `${method} failed`);
      return result as T;
    },
    async turn(sessionKey, text) {
      const { ok, result, error } = await call('chat.send', { sessionKey, text });
      const itemId = result?.itemId;
      if (!ok || !itemId) throw new Error(error?.message ?? 'no item');
      const end = ends.get(itemId) ?? (await new Promise<Heard | undefined>((resolve) => waiting.set(itemId, resolve)));
      ends.delete(itemId);
      waiting.delete(itemId);
      if (end?.data?.error) throw new Error(end.data.error.message);
    },
    close() {
      closing = true;
      socket.close();
    },
  };
}

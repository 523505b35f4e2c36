import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Leasable } from 'instar';

const maxLine = 64 * 1024;

/** A lease: it outlives reloads, so it is dumb and knows only how to take and send lines. `from` names a connection. */
export interface Server extends Leasable {
  readonly port: number;
  /** False where that connection is gone. */
  send(to: string, text: string): boolean;
}

export async function listen(port: number, received: (from: string, line: string) => void): Promise<Server> {
  const sockets = new Map<string, Socket>();
  const server = createServer((socket) => {
    const from = crypto.randomUUID();
    sockets.set(from, socket);
    socket.on('error', () => {}); // the other side left in a hurry: `close` follows
    socket.on('close', () => sockets.delete(from));
    let unread = 0;
    // Nobody may fill our memory with a line that never ends.
    socket.on('data', (bytes) => {
      const end = bytes.lastIndexOf(10);
      unread = end < 0 ? unread + bytes.length : bytes.length - end - 1;
      if (unread > maxLine) socket.destroy();
    });
    createInterface({ input: socket }).on('line', (line) => line.trim() && received(from, line.trim()));
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    send: (to, text) => sockets.get(to)?.write(`${text}\n`) !== undefined,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets.values()) socket.destroy();
    },
  };
}

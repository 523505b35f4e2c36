import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { connect } from '../../../plugins/cli/client.ts';
import { fakeGateway } from './fake-gateway.ts';

async function listener(answer?: string) {
  const server = createServer((socket) => socket.on('error', () => {}).on('data', () => answer && socket.end(answer)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

test('U246: a refused connection says so, with host and port', async () => {
  const { server, port } = await listener();
  server.close();
  await once(server, 'close');
  const failing = connect(`http://127.0.0.1:${port}`, 'x');
  await expect(failing).rejects.toMatchObject({
    code: 'CLI_REFUSED',
    message: expect.stringContaining(`127.0.0.1:${port}: connection refused`),
  });
});

test('U246: a port where nothing of ours answers says so, with host and port', async () => {
  const { server, port } = await listener('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
  const failing = connect(`http://127.0.0.1:${port}`, 'x');
  await expect(failing).rejects.toMatchObject({ code: 'CLI_REFUSED', message: `no WebSocket at 127.0.0.1:${port}: it answered 404` });
  server.close();
});

test('U246: a port that accepts and stays silent is a timeout, with host and port', async () => {
  const { server, port } = await listener();
  const failing = connect(`http://127.0.0.1:${port}`, 'x', 50);
  await expect(failing).rejects.toMatchObject({
    code: 'CLI_TIMEOUT',
    message: expect.stringContaining(`no answer from 127.0.0.1:${port} within 0.05 s`),
  });
  server.close();
});

test('a wrong token is told as that, with what a person at a terminal can do', async () => {
  await using gateway = await fakeGateway({});
  await expect(connect(gateway.url, 'wrong')).rejects.toMatchObject({
    code: 'CLI_DENIED',
    message: expect.stringMatching(/another token than this command; set INSTAR_GATEWAY_TOKEN/),
  });
});

test('calls that wait when the connection ends are told that it is lost', async () => {
  await using gateway = await fakeGateway({ wait: (_params, _send, socket) => socket.terminate() });
  const client = await connect(gateway.url, 'right');
  await expect(client.call('wait')).rejects.toMatchObject({ code: 'CLI_LOST' });
  await expect(client.call('later')).rejects.toMatchObject({ code: 'CLI_LOST' });
});

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { instar, startGateway, tempHome } from '../support/instar.ts';

/** Leases a socket that greets; its port is told by a file of its own folder. */
const greeter = (says: string, after = '') => `
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { definePlugin } from 'instar';
async function open(): Promise<AsyncDisposable> {
  const server = createServer((socket) => socket.end('${says}'));
  await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens));
  writeFileSync(new URL('port', import.meta.url), String((server.address() as { port: number }).port));
  return { [Symbol.asyncDispose]: () => new Promise((closed) => server.close(() => closed())) };
}
export default definePlugin({ name: 'greeter', description: 'greets', async setup(ctx) { await ctx.lease('tcp:greeter', open); ${after} } });
`;

async function scene() {
  const place = tempHome({});
  const at = (name: string) => join(place.home, 'plugins/greeter', name);
  mkdirSync(at(''), { recursive: true });
  writeFileSync(at('index.ts'), greeter('one'));
  const gateway = await startGateway(place.home);
  const port = () => Number(readFileSync(at('port'), 'utf8'));
  return {
    write: (source: string) => writeFileSync(at('index.ts'), source),
    reload: (...args: string[]) => instar(place.home, ['plugins', 'reload', 'greeter', ...args]),
    gatewayToo: () => instar(place.home, ['plugins', 'reload', 'gateway', '--hard']),
    status: () => instar(place.home, ['status']),
    greeting: async () => text(connect(port(), '127.0.0.1')),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      place[Symbol.dispose]();
    },
  };
}

test('code that makes a lease is live only with a hard reload, which says that it has a gap', async () => {
  await using s = await scene();
  expect(await s.greeting()).toBe('one');
  s.write(greeter('two'));
  expect((await s.reload()).code).toBe(0);
  expect(await s.greeting()).toBe('one'); // the socket is kept, and with it the code that opened it
  const hard = await s.reload('--hard');
  expect([hard.code, hard.stdout, hard.stderr]).toEqual([
    0,
    expect.stringMatching(/^generation \d+, \d+ ms: greeter \(hard reload\)$/m),
    expect.stringMatching(/what it leases is closed and made anew; until then it answers nobody/),
  ]);
  expect(await s.greeting()).toBe('two');
});

test('a hard reload that fails after the socket was closed has the live code open it again', async () => {
  await using s = await scene();
  s.write(greeter('broken', "throw new Error('too late');"));
  const hard = await s.reload('--hard');
  expect([hard.code, hard.stderr]).toEqual([1, expect.stringMatching(/SETUP_FAILED: .*too late/)]);
  expect(await s.greeting()).toBe('one');
});

test('a hard reload of the gateway itself takes the command’s own connection with it, and is told all the same', async () => {
  await using s = await scene();
  const hard = await s.gatewayToo();
  expect([hard.code, hard.stdout]).toEqual([0, expect.stringMatching(/made anew; the connection of this command was part of the gap/)]);
  expect((await s.status()).code).toBe(0);
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { isGone, newHolder } from '../../../plugins/auth-profiles/holder.ts';
import { writeProfile, tables } from '../../../plugins/auth-profiles/profile-rows.ts';
import { openStore } from '../../../plugins/store/sqlite.ts';
import { logOf } from '../../../kernel/log.ts';

/** Refresh tokens are good for one use; the answer to a request can be held back. */
async function tokenEndpoint() {
  const asked: { readonly token: string; answer(): void }[] = [];
  let uses = 0;
  let isHeld = false;
  let valid = 'r0';
  const reply = (response: ServerResponse, token: string) => {
    const isGood = token === valid;
    if (isGood) valid = `r${++uses}`;
    response.writeHead(isGood ? 200 : 400, { 'content-type': 'application/json' });
    const tokens = { access_token: `a${uses}`, refresh_token: valid, expires_in: 3600 };
    response.end(JSON.stringify(isGood ? tokens : { error: 'invalid_grant' }));
  };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += String(piece)));
    request.on('end', () => {
      const token = new URLSearchParams(body).get('refresh_token') ?? '';
      const answer = () => reply(response, token);
      asked.push({ token, answer });
      if (!isHeld) answer();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    asked,
    hold: (held: boolean) => void (isHeld = held),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<unknown>((resolve) => server.close(resolve));
    },
  };
}

/** A state folder whose token has run out, and processes that share it. */
async function place() {
  const home = await mkdtempDisposable(join(tmpdir(), 'instar-oauth-'));
  const endpoint = await tokenEndpoint();
  const store = openStore(
    join(home.path, 'state.db'),
    logOf(() => {}),
  );
  await store.migrate('auth-profiles', tables);
  const secret = { tokens: { access: 'a0', refresh: 'r0', expires: 1 } };
  await store.tx((t) => writeProfile(t, { id: 'oa', provider: 'a', mode: 'oauth', secret }, 1));
  await store[Symbol.asyncDispose]();
  const children: { stop(): Promise<unknown> }[] = [];
  return {
    endpoint,
    async process() {
      const file = join(import.meta.dirname, '../../support/oauth-child.ts');
      const child = spawn(process.execPath, [file, home.path, endpoint.url], { stdio: ['pipe', 'pipe', 'inherit'] });
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const line = async () => String((await lines.next()).value);
      const isOver = once(child, 'exit');
      const stop = () => (child.kill('SIGKILL'), isOver);
      children.push({ stop });
      expect(await line()).toBe('ready');
      return { ask: () => void child.stdin.write('\n'), token: line, stop };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(children.map((child) => child.stop()));
      await endpoint[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

test('U146: of processes that share a state folder one renews a token, and all go on with the new one', { timeout: 30_000 }, async () => {
  await using p = await place();
  const all = await Promise.all([p.process(), p.process(), p.process()]);
  p.endpoint.hold(true); // long enough that all of them ask meanwhile
  for (const one of all) one.ask();
  await expect.poll(() => p.endpoint.asked.length, { interval: 5, timeout: 10_000 }).toBe(1);
  p.endpoint.hold(false);
  p.endpoint.asked[0]?.answer();
  expect(await Promise.all(all.map((one) => one.token()))).toEqual(['a1', 'a1', 'a1']);
  expect(p.endpoint.asked.map(({ token }) => token)).toEqual(['r0']);
});

test('U146: a process that is killed while it renews holds nobody up', { timeout: 30_000 }, async () => {
  await using p = await place();
  const [first, second] = await Promise.all([p.process(), p.process()]);
  p.endpoint.hold(true);
  first.ask();
  await expect.poll(() => p.endpoint.asked.length, { interval: 5, timeout: 10_000 }).toBe(1);
  second.ask();
  await first.stop();
  p.endpoint.hold(false);
  expect(await second.token()).toBe('a1'); // before the 45 s are over for which a holder counts as living: the test may take 30
  expect(p.endpoint.asked).toHaveLength(2);
});

test('who holds a renewal is gone only where that is sure', async () => {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  expect([newHolder(), `elsewhere ${child.pid}`, `${hostname()} ${child.pid} x`, 'an older form', ''].map(isGone)).toEqual([
    false,
    false,
    true,
    false,
    false,
  ]);
});

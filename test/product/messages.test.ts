import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { type Gateway, instar, startGateway, tempHome, withMock } from '../support/instar.ts';
import { startMock } from '../support/mock-model.ts';

const request = (gateway: Gateway, content: string, headers: Record<string, string> = {}) =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.token, maxRetries: 0 }).chat.completions.create(
    { model: 'instar/main', user: 'u', messages: [{ role: 'user', content }] },
    { headers },
  );
const textOf = (answer: Awaited<ReturnType<typeof request>>) => answer.choices[0]?.message.content;
const poll = { interval: 10, timeout: 30_000 };

test('an Idempotency-Key finds its answer after SIGKILL and a restart, and the turn is not taken twice', async () => {
  await using mock = await startMock();
  using place = tempHome();
  writeFileSync(place.file, JSON.stringify(withMock(mock.url, place.home)));
  const key = { 'Idempotency-Key': 'k1' };
  {
    await using gateway = await startGateway(place.home);
    const lost = request(gateway, '[[hold]] in flight', key);
    lost.catch(() => {});
    await expect.poll(() => mock.requests.length, poll).toBe(1);
    gateway.child.kill('SIGKILL');
    await expect(lost).rejects.toThrow();
  }
  mock.release();
  await using gateway = await startGateway(place.home);
  expect(textOf(await request(gateway, '[[hold]] in flight', key))).toBe('echo: [[hold]] in flight');
  const asked = mock.requests.length;
  expect(textOf(await request(gateway, '[[hold]] in flight', key))).toBe('echo: [[hold]] in flight');
  expect(mock.requests.length).toBe(asked);
  await expect(request(gateway, 'whatever', key)).rejects.toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_USED' });
});

test('over HTTP a message too many is status 429, and /stop in the terminal ends the turn', async () => {
  await using mock = await startMock();
  using place = tempHome();
  writeFileSync(place.file, JSON.stringify(withMock(mock.url, place.home, { messages: { queue: { cap: 1 } } })));
  await using gateway = await startGateway(place.home);
  const first = request(gateway, '[[hold]] runs');
  first.catch(() => {});
  await expect.poll(() => mock.requests.length, poll).toBe(1);
  const second = request(gateway, 'waits');
  second.catch(() => {});
  const list = async () => JSON.parse((await instar(place.home, ['inbox', 'list', '--json'])).stdout).items as Record<string, string>[];
  await expect.poll(async () => (await list()).map(({ state }) => state), poll).toEqual(['running', 'waiting']);
  await expect(request(gateway, 'too many')).rejects.toMatchObject({ status: 429, code: 'QUEUE_FULL' });

  const [{ sessionKey = '' } = {}] = await list();
  expect((await instar(place.home, ['agent', '--session', sessionKey, '--message', '/stop'])).stdout).toContain(
    'Stopped, with one message',
  );
  await expect(first).rejects.toMatchObject({ status: 503 });
  await expect(second).rejects.toMatchObject({ status: 503 });
  expect(textOf(await request(gateway, 'and on'))).toBe('echo: and on');
});

test('a dead letter is listed, sent again and dropped by commands, and wrong words are put right', async () => {
  using place = tempHome();
  await using _ = await startGateway(place.home);
  const outbox = (...argv: string[]) => instar(place.home, ['outbox', ...argv]);
  expect((await outbox()).stdout).toContain('Every answer got out');
  {
    using db = new DatabaseSync(join(place.home, 'state.db'));
    const insert = db.prepare(
      "INSERT INTO outbox VALUES (?, ?, 'chat:x', 's', '[{\"text\":\"hi\"}]', '{}', 'dead', 6, ?, ?, 'the line is down')",
    );
    for (const id of ['aaaa1111', 'bbbb2222']) insert.run(`${id}-0000-4000-8000-000000000000`, `i-${id}`, Date.now(), Date.now());
  }
  const { stdout } = await outbox('list');
  for (const part of ['aaaa1111', 'dead', '6 attempts', 'the line is down', 'hi']) expect(stdout).toContain(part);
  expect((await outbox('retry', 'aaaa')).stdout).toContain('on the way again');
  expect((await outbox('drop', 'bbbb', '--json')).stdout).toContain('"dropped":"bbbb2222');
  const states = async () => {
    const { rows } = JSON.parse((await outbox('list', '--all', '--json')).stdout) as { rows: { state: string }[] };
    return rows.map(({ state }) => state).toSorted();
  };
  await expect.poll(states, poll).toEqual(['delivered', 'dropped']);
  const wrong = await Promise.all([outbox('lst'), outbox('retry'), outbox('retry', 'ffffffff'), outbox('list', '--state', 'lost')]);
  expect(wrong.map(({ code }) => code)).toEqual([64, 64, 1, 1]);
  expect(wrong.map(({ stderr }) => stderr).join('')).toMatch(/did you mean "list"[^]*one id[^]*OUTBOX_UNKNOWN[^]*OUTBOX_PARAMS/);
});

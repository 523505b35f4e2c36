import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Inbox } from '../../../plugins/inbox/contract.ts';
import { Store } from '../../../plugins/store/contract.ts';
import { bundledPlugins, fakeChannel, fakeModel, type Script, testKernel } from '../../../plugins/testing/kit.ts';

const doors = ['chat', 'cli', 'gateway', 'openai-http', 'web', 'watch', 'model-demo', 'models-openai', 'models-pi', 'plugins-admin'];

/** All plugins but the doors, a model that says what it is told to, and a channel. */
async function product(script: Script) {
  const channel = fakeChannel();
  const model = fakeModel(script);
  const plugins = [...(await bundledPlugins(doors)), channel, model];
  const config = (ids: readonly string[]) => ({ agents: { defaults: { model: 'fake/fake' }, list: ids.map((id) => ({ id })) } });
  const t = await testKernel({ plugins, config: config(['main', 'other']) });
  return {
    t,
    channel,
    /** An edit of the config that leaves only these agents. */
    keep: (...ids: readonly string[]) => t.apply(plugins, config(ids)),
    model,
    sql: <T extends object>(text: string) => t.kernel.run((run) => run.get(Store).tx((open) => open.all<T>(text))),
    abort: (sessionKey: string) => t.kernel.run((run) => run.get(Inbox).abort(sessionKey, 'stop')),
    [Symbol.asyncDispose]: () => t[Symbol.asyncDispose](),
  };
}

/** Replies that come when they are let. */
function held() {
  const gate = Promise.withResolvers<string>();
  const script: Script = async (_, number) => (number === 0 ? gate.promise : `reply ${number}`);
  return { script, go: () => gate.resolve('reply 0') };
}

test('a message that waited while its agent was removed is answered with an error, and the lane goes on', async () => {
  const { script, go } = held();
  await using p = await product(script);
  const other = { agentId: 'other', sessionKey: 'agent:other:main' };
  const first = p.channel.ask('first', other);
  const second = p.channel.ask('second', other);
  await expect.poll(() => p.t.kernel.run((run) => run.get(Inbox).active().length), { interval: 5 }).toBe(2);
  await p.keep('main');
  go();
  expect((await first).text).toBe('reply 0'); // pinned to the generation on which it began
  expect((await second).meta.error).toMatchObject({ code: 'AGENT_UNKNOWN', message: expect.stringContaining('"other"') });
  await p.keep('main', 'other');
  expect((await p.channel.ask('third', other)).text).toBe('reply 1');
});

test('an unknown model is an answer that says so, and the lane goes on', async () => {
  await using p = await product(() => 'fine');
  const [lost, next] = await Promise.all([p.channel.ask('a', { model: 'fake/none' }), p.channel.ask('b')]);
  expect(lost.meta.error).toMatchObject({ code: 'MODEL_UNKNOWN' });
  expect(next.text).toBe('fine');
});

test('where the workspace cannot be made the tools say so, and the turn ends', async () => {
  await using p = await product((_, number) =>
    number === 0 ? { calls: [{ name: 'write', args: { path: 'a', content: 'b' } }] } : 'sorry',
  );
  await rm(join(p.t.home, 'workspace'), { recursive: true });
  await writeFile(join(p.t.home, 'workspace'), ''); // no folder can be made here any more
  expect(await p.channel.ask('write')).toMatchObject({ text: 'sorry' });
  expect(JSON.stringify(p.model.requests[1]?.messages.at(-1))).toContain('"isError":true');
});

test('where the transcript cannot be written the answer says so, and the lane goes on', async () => {
  await using p = await product(() => 'fine');
  await writeFile(join(p.t.home, 'agents'), '');
  const [first, second] = await Promise.all([p.channel.ask('a'), p.channel.ask('b')]);
  for (const answer of [first, second]) expect(answer.meta.error).toMatchObject({ code: 'TRANSCRIPT_UNWRITABLE' });
});

test('a turn that is stopped on a full disk has its end once there is room, and does not begin again', async () => {
  const { script, go } = held();
  await using p = await product(script);
  await p.sql('CREATE TABLE filler (bytes BLOB)');
  const stopped = p.channel.ask('first');
  await expect.poll(() => p.model.requests.length, { interval: 5 }).toBe(1);
  await p.sql('CREATE TRIGGER full BEFORE INSERT ON outbox BEGIN INSERT INTO filler VALUES (zeroblob(100000)); END');
  await p.sql('PRAGMA max_page_count = 1');
  await p.abort('agent:main:main');
  go();
  await expect.poll(() => p.t.records.some(({ message }) => message.includes('tried again')), { interval: 5 }).toBe(true);
  expect(await p.sql('SELECT state FROM inbox')).toMatchObject([{ state: 'open' }]);
  await p.sql('PRAGMA max_page_count = 1000000');
  expect((await stopped).meta.stopReason).toBe('aborted');
  expect(await p.sql('SELECT state FROM inbox')).toMatchObject([{ state: 'cancelled' }]);
});

test('a turn that ends on a full disk is answered once there is room, before the next one begins', async () => {
  const { script, go } = held();
  await using p = await product(script);
  await p.sql('CREATE TABLE filler (bytes BLOB)');
  const first = p.channel.ask('first');
  const second = p.channel.ask('second');
  await expect.poll(() => p.t.kernel.run((run) => run.get(Inbox).active().length), { interval: 5 }).toBe(2);
  await p.sql('CREATE TRIGGER full BEFORE INSERT ON outbox BEGIN INSERT INTO filler VALUES (zeroblob(100000)); END');
  await p.sql('PRAGMA max_page_count = 1');
  go();
  await expect.poll(() => p.t.records.some(({ message }) => message.includes('tried again')), { interval: 5 }).toBe(true);
  expect(await p.sql('SELECT state FROM inbox')).toMatchObject([{ state: 'open' }, { state: 'open' }]);
  await p.sql('PRAGMA max_page_count = 1000000');
  expect([(await first).text, (await second).text]).toEqual(['reply 0', 'reply 1']);
  expect(await p.sql('SELECT state FROM outbox')).toHaveLength(2);
});

test('a stop at any moment ends in one answer, and the next message is answered', async () => {
  await using p = await product((_, number) => `reply ${number}`);
  const sessionKey = 'agent:main:main';
  for (let ticks = 0; ticks < 40; ticks += 3) {
    const asked = p.channel.ask('go');
    for (let i = 0; i < ticks; i++) await new Promise(setImmediate);
    await p.abort(sessionKey);
    expect(['stop', 'aborted']).toContain((await asked).meta.stopReason);
  }
  expect((await p.channel.ask('last')).meta.stopReason).toBe('stop');
  const [rows] = await p.sql<{ items: number; answers: number }>(
    `SELECT (SELECT count(*) FROM inbox WHERE state <> 'open') AS items, (SELECT count(*) FROM outbox) AS answers`,
  );
  expect(rows).toEqual({ items: 15, answers: 15 });
});

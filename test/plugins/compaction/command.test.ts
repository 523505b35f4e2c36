import { expect, test } from 'vitest';
import { wishIn } from '../../../plugins/compaction/command.ts';
import { type Client, Methods } from '../../../plugins/gateway/contract.ts';
import { isSummary, scene, textsOf } from './scene.ts';

test.each([
  ['/compact', ''],
  ['  /Compact  ', ''],
  ['/compact keep the names', 'keep the names'],
  ['/compact: keep the names', 'keep the names'],
  ['/compact\nkeep\nall', 'keep\nall'],
  ['/compact.', ''],
  ['/compacted', undefined],
  ['please /compact', undefined],
])('%j asks to heed %j', (content, due) => expect(wishIn({ content })).toBe(due));

test('SPEC 7.7: /compact makes the older part a summary, is answered, and stands in no transcript', async () => {
  await using s = await scene((request) => (isSummary(request) ? 'SUM' : 'fine'), {
    window: 200_000,
    compaction: { customInstructions: 'Mind the gap' },
  });
  await s.past(10, 2_000);
  const answer = await s.channel.ask('/compact keep the names');
  expect(answer.text).toMatch(/^18 messages are a summary now: about \d+ tokens became \d+\.$|^\d+ messages are a summary now/);
  expect(answer.meta.stopReason).toBe('command');
  expect(s.requests.map(isSummary)).toEqual([true]);
  expect(s.requests[0]?.system).toMatch(/Mind the gap[^]*keep the names/);
  const { transcript, history } = await s.session();
  expect(textsOf(transcript.entries.map(({ message }) => message))).not.toContain('/compact');
  expect(history[0]?.content).toContain('SUM');
  await s.channel.ask('and now?');
  expect(textsOf(s.requests[1]?.messages ?? [])).not.toContain('question 0');
});

test('there may be nothing to compact, and a stranger’s or a stateless client’s words are no command', async () => {
  await using s = await scene(() => 'fine');
  expect((await s.channel.ask('/compact')).text).toBe('There is nothing to compact here yet.');
  expect((await s.channel.ask('/compact', { subject: { sender: 'unknown', session: 'direct' } })).text).toBe('fine');
  expect((await s.channel.ask('/compact', { sessionKey: 'x', subject: { sender: 'owner', session: 'ephemeral' } })).text).toBe('fine');
});

test('a failed summary is said, and nothing is changed', async () => {
  await using s = await scene(() => ({ code: 'MODEL_HTTP', status: 500, message: 'HTTP 500', body: '{}' }));
  await s.past(10, 1_000);
  expect((await s.channel.ask('/compact')).text).toMatch(/^The conversation could not be summarised: /);
  expect(await s.compactions()).toEqual([]);
});

test('sessions.compact is a method of the gateway, with faults that name the field', async () => {
  await using s = await scene((request) => (isSummary(request) ? 'SUM' : 'fine'));
  await s.past(10, 1_000);
  const client: Client = { id: '1', kind: 'test', sender: 'owner', signal: new AbortController().signal, send() {} };
  const call = (params: object) =>
    s.t.kernel.run(async (run) => (await run.call(Methods, {}))['sessions.compact']?.({ ...params }, client, run));
  await expect(call({})).rejects.toMatchObject({ code: 'COMPACTION_PARAMS', message: '"sessionKey" is missing' });
  await expect(call({ sessionKey: 'nowhere' })).rejects.toMatchObject({ code: 'SESSION_UNKNOWN' });
  await expect(call({ sessionKey: 'main', instructions: 7 })).rejects.toMatchObject({ code: 'COMPACTION_PARAMS' });
  expect(await call({ sessionKey: 'main' })).toMatchObject({ compacted: true, messages: expect.any(Number) });
  expect(await s.compactions()).toHaveLength(1);
});

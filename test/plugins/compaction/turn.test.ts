import { mkdir, writeFile } from 'node:fs/promises';
import { describe, expect, test, vi } from 'vitest';
import { KernelError, type Run } from '../../../kernel/index.ts';
import { tokensOf } from '../../../plugins/compaction/estimate.ts';
import { shrink } from '../../../plugins/compaction/shrink.ts';
import { Inbox } from '../../../plugins/inbox/contract.ts';
import { Agents } from '../../../plugins/agents/contract.ts';
import type { Model } from '../../../plugins/models/contract.ts';
import type { Transcript } from '../../../plugins/sessions/contract.ts';
import { openTranscript } from '../../../plugins/sessions/transcript.ts';
import { busy, isSummary, scene, textsOf, tooLong } from './scene.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const sized = ({ system, messages }: { readonly system: string; readonly messages: Parameters<typeof tokensOf>[0] }) =>
  Math.ceil(system.length / 3.5) + tokensOf(messages);

test('SPEC 7.7: a conversation over its budget is summarised before it is sent, and goes on with summary and newest turns', async () => {
  await using s = await scene((request) => (isSummary(request) ? 'SUM of it' : 'fine'), {
    window: 60_000,
    compaction: { keepRecentTokens: 10_000 },
  });
  await s.past(22, 2_000);
  const answer = await s.channel.ask('and now?');
  expect(answer.text).toBe('fine');
  const [summary, main] = s.requests;
  expect([s.requests.length, summary && isSummary(summary), summary?.tools, summary?.model.id]).toEqual([2, true, [], 'm']);
  expect(textsOf(summary?.messages ?? [])).toMatch(/question 0[^]*question 17/);
  const sent = main?.messages ?? [];
  expect(sent[0]).toMatchObject({ role: 'user', content: expect.stringContaining('<summary>\nSUM of it\n</summary>') });
  expect(textsOf(sent)).not.toContain('question 17');
  expect(textsOf(sent)).toMatch(/question 20[^]*question 21[^]*and now\?/);
  // The transcript has it as a line, keeps every message, and the next turn begins with it.
  const [record] = await s.compactions();
  expect(record).toMatchObject({ summary: 'SUM of it', firstKeptEntryId: expect.any(String), tokensBefore: expect.any(Number) });
  expect((await s.records()).filter(({ type }) => type === 'message')).toHaveLength(46);
  await s.channel.ask('more');
  expect(s.requests).toHaveLength(3);
  expect(s.requests[2]?.messages.slice(0, sent.length)).toEqual(sent);
});

test('SPEC 6.1, 7.7: it is told of, and its tokens count for the turn', async () => {
  await using s = await scene((request) => (isSummary(request) ? 'SUM' : 'fine'), { window: 60_000 });
  await s.past(22, 2_000);
  const { meta } = await s.channel.ask('and now?');
  expect(meta.usage).toMatchObject({ input: 20, totalTokens: 22 });
  expect(s.events('auto_compaction_start')).toEqual([{ trigger: 'budget', tokensBefore: expect.any(Number) }]);
  const [end] = s.events('auto_compaction_end') as [{ tokensBefore: number; tokensAfter: number; messages: number }];
  expect(end.tokensAfter).toBeLessThan(end.tokensBefore * 0.75);
  expect(end.messages).toBeGreaterThan(10);
});

test('the reopened transcript shows what the open one showed', async () => {
  await using s = await scene((request) => (isSummary(request) ? 'SUM' : 'fine'));
  await s.past(20, 2_000);
  await s.channel.ask('and now?');
  const { transcript, history } = await s.session();
  const again = openTranscript({ file: transcript.file, sessionId: transcript.sessionId, workspace: '/', log: quiet });
  expect(await again.history()).toEqual(history);
});

test('SPEC 7.4: too long for the model is compacted on the same model at most exactly 3 times, then one error', async () => {
  await using s = await scene((request) => (isSummary(request) ? 'SUM' : tooLong), {
    window: 200_000,
    config: { agents: { defaults: { model: { primary: 'p/m', fallbacks: ['demo/demo'] } } } },
  });
  await s.past(60, 1_500);
  const answer = await s.channel.ask('and now?');
  expect(s.requests.filter((request) => !isSummary(request))).toHaveLength(4);
  expect(await s.compactions()).toHaveLength(3);
  expect(s.events('auto_compaction_start').map(({ trigger }) => trigger)).toEqual(['overflow', 'overflow', 'overflow']);
  expect(new Set(s.requests.map(({ model }) => model.id))).toEqual(new Set(['m']));
  expect(answer.payloads).toEqual([
    { isError: true, text: expect.stringMatching(/too long for p\/m, even after it was compacted 3 times.*CONTEXT_OVERFLOW/) },
  ]);
  expect(s.events('model_switched')).toEqual([]);
  // Each time it was smaller, and the session is not lost.
  const sizes = s.requests.filter((request) => !isSummary(request)).map(sized);
  expect(sizes.toSorted((a, b) => b - a)).toEqual(sizes);
});

test('SPEC 7.7: after an overflow the compacted request is answered', async () => {
  let full = true;
  await using s = await scene(
    (request) => {
      if (isSummary(request)) return 'SUM';
      const was = full;
      full = false;
      return was ? tooLong : 'fine';
    },
    { window: 200_000 },
  );
  await s.past(10, 3_000);
  expect((await s.channel.ask('and now?')).text).toBe('fine');
  expect((await s.channel.ask('again')).text).toBe('fine');
  expect(await s.compactions()).toHaveLength(1);
});

test('where nothing can be made shorter, that is said at once', async () => {
  await using s = await scene(() => tooLong);
  const answer = await s.channel.ask(`read this: ${'word '.repeat(5_000)}`);
  expect(s.requests).toHaveLength(1);
  expect(answer.text).toMatch(/nothing of it can be made shorter .*COMPACTION_FAILED/);
});

test('a summary request that is itself too long is made in smaller pieces', async () => {
  const limit = 12_000;
  await using s = await scene((request) => (sized(request) > limit && isSummary(request) ? tooLong : isSummary(request) ? 'SUM' : 'fine'));
  await s.past(20, 2_000);
  expect((await s.channel.ask('and now?')).text).toBe('fine');
  const pieces = s.requests.filter((request) => isSummary(request) && sized(request) <= limit);
  expect(pieces.length).toBeGreaterThan(1);
  expect(textsOf(pieces[1]?.messages ?? [])).toContain('<earlier>\\nSUM');
  expect(await s.compactions()).toHaveLength(1);
});

test('where no piece is short enough, the user’s own words stand in, and the session goes on', async () => {
  await using s = await scene((request) => (isSummary(request) ? tooLong : sized(request) > 30_000 ? tooLong : 'fine'), {
    window: 200_000,
  });
  await s.past(20, 2_000);
  expect((await s.channel.ask('and now?')).text).toBe('fine');
  const [record] = await s.compactions();
  expect(record?.['summary']).toMatch(/^\(No summary could be made: [^]*- question \d+: word/);
});

test('a model that cannot be had is no reason to drop anything: the message fails, and the next try compacts', async () => {
  let isBusy = true;
  await using s = await scene(
    (request) => (isBusy && isSummary(request) ? busy : isSummary(request) ? 'SUM' : sized(request) > 30_000 ? tooLong : 'fine'),
    {
      window: 200_000,
    },
  );
  await s.past(20, 2_000);
  expect((await s.channel.ask('one')).text).toMatch(/could not be summarised .*COMPACTION_FAILED/);
  expect(await s.compactions()).toEqual([]);
  isBusy = false;
  expect((await s.channel.ask('two')).text).toBe('fine');
  expect(await s.compactions()).toHaveLength(1);
});

test('a summary that fails on budget does not stop a turn that still fits, and is not tried at each round', async () => {
  let rounds = 0;
  await using s = await scene((request) => {
    if (isSummary(request)) return { code: 'MODEL_HTTP', status: 418, message: 'HTTP 418', body: '{"error":"teapot"}' };
    return rounds++ < 3 ? [{ type: 'toolCall', id: `c${rounds}`, name: 'nothing', arguments: { rounds } }] : 'fine';
  });
  await s.past(14, 2_000);
  expect((await s.channel.ask('and now?')).text).toBe('fine');
  expect(s.events('auto_compaction_end')).toEqual([
    expect.objectContaining({ messages: 0, error: expect.stringContaining('could not be summarised') }),
  ]);
  expect(await s.compactions()).toEqual([]);
});

test('a summary that hangs is given up after its time, without blocking the session', async () => {
  await using s = await scene(
    (request) => (isSummary(request) ? new Promise<never>(() => {}) : sized(request) > 30_000 ? tooLong : 'fine'),
    {
      window: 200_000,
      compaction: { timeoutSeconds: 0.05 },
    },
  );
  await s.past(20, 2_000);
  expect((await s.channel.ask('and now?')).text).toBe('fine');
  expect((await s.compactions())[0]?.['summary']).toContain('was not there after');
});

test('U127: while one session’s conversation is being summarised, others are answered', async () => {
  const [asked, summary] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  await using s = await scene((request) => {
    if (!isSummary(request)) return 'fine';
    asked.resolve();
    return summary.promise;
  });
  await s.past(20, 2_000);
  const slow = s.channel.ask('and now?');
  await asked.promise;
  expect((await s.channel.ask('ping', { sessionKey: 'agent:main:fake:direct:b' })).text).toBe('fine');
  summary.resolve('SUM');
  expect((await slow).text).toBe('fine');
  expect(await s.compactions()).toHaveLength(1);
});

test('SPEC 6.4: a stop ends the summary too, and leaves the conversation as it was', async () => {
  const asked = Promise.withResolvers<void>();
  await using s = await scene((request) => {
    if (!isSummary(request)) return 'fine';
    asked.resolve();
    return new Promise<never>(() => {});
  });
  await s.past(20, 2_000);
  const answer = s.channel.ask('and now?');
  await asked.promise;
  await s.t.kernel.run((run) => run.get(Inbox).abort('agent:main:main', 'stop'));
  expect((await answer).meta.stopReason).toBe('aborted');
  expect(await s.compactions()).toEqual([]);
  expect(s.requests).toHaveLength(1);
});

test('huge tool results do not compact at each round: they are shortened for the request, not in the file', async () => {
  let round = 0;
  const big = 'line of a file\n'.repeat(4_000);
  await using s = await scene(
    (request) => {
      if (isSummary(request)) return 'SUM';
      if (sized(request) > 60_000) return tooLong;
      return round++ < 12 ? [{ type: 'toolCall', id: `c${round}`, name: 'read', arguments: { path: `f${round}.txt` } }] : 'done';
    },
    { window: 64_000, config: { agents: { defaults: { model: 'p/m' } }, tools: { profile: 'full' } } },
  );
  const workspace = await s.t.kernel.run((run) => run.get(Agents).workspace('main'));
  await mkdir(workspace, { recursive: true });
  for (let i = 1; i <= 12; i++) await writeFile(`${workspace}/f${i}.txt`, big);
  const answer = await s.channel.ask('read them all');
  expect(answer.text).toBe('done');
  const ends = s.events('auto_compaction_end');
  expect(ends.length).toBeGreaterThan(0);
  expect(ends.length).toBeLessThan(6);
  const { transcript } = await s.session();
  const results = transcript.entries.filter(({ message }) => message.role === 'toolResult');
  expect(results).toHaveLength(12);
  expect(new Set(results.map(({ message }) => JSON.stringify(message.content).length)).size).toBe(1);
});

test('a compaction that is switched off leaves the error of the model', async () => {
  await using s = await scene(() => tooLong, { compaction: { mode: 'off' } });
  await s.past(20, 2_000);
  expect((await s.channel.ask('and now?')).text).toContain('MODEL_HTTP');
  expect(s.requests).toHaveLength(1);
});

test('without the plugin the rest runs', async () => {
  await using s = await scene(() => 'fine', { without: 'compaction' });
  await s.past(20, 2_000);
  expect((await s.channel.ask('and now?')).text).toBe('fine');
});

describe('a record that cannot be written, as on a full disk', () => {
  const full = () => Promise.reject(new KernelError('TRANSCRIPT_UNWRITABLE', 'ENOSPC: no space left on device; make room'));

  test('is told, and the turn that fits goes on without it; what the summary cost counts', async () => {
    await using s = await scene((request) => (isSummary(request) ? 'SUM' : 'fine'), { window: 60_000 });
    await s.past(22, 2_000);
    const { transcript } = await s.session();
    vi.spyOn(transcript, 'compact').mockImplementation(full);
    const answer = await s.channel.ask('and now?');
    expect(answer).toMatchObject({ text: 'fine', meta: { stopReason: 'stop', usage: { input: 20 } } });
    expect(s.events('auto_compaction_end')).toMatchObject([{ error: expect.stringContaining('ENOSPC') }]);
    expect(await s.compactions()).toEqual([]);
  });

  test('fails the turn that does not fit with a word of why, and its cost', async () => {
    await using s = await scene((request) => (isSummary(request) ? 'SUM' : tooLong), { window: 200_000 });
    await s.past(22, 2_000);
    const { transcript } = await s.session();
    vi.spyOn(transcript, 'compact').mockImplementation(full);
    const { meta } = await s.channel.ask('and now?');
    expect(meta.error).toMatchObject({ code: 'COMPACTION_FAILED', message: expect.stringContaining('ENOSPC') });
    expect(meta.usage).toMatchObject({ input: 10 });
  });
});

test('a fault on the way to the model is a summary that failed, and leaves no timer behind', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const model = { provider: 'p', id: 'm', api: 'x', maxTokens: 100 } as Model;
    const run = { signal: new AbortController().signal, call: () => Promise.reject(new Error('a tap broke')) } as unknown as Run;
    const room = { all: 1_000, keep: 500, summary: 200, piece: 2_000 };
    const plan = { older: [{ role: 'user', content: 'x', timestamp: 1 } as const], firstKeptEntryId: 'a', tokens: 200, verbatim: '' };
    const settings = { isOn: true, reserve: 1, keepRecent: 1, timeoutMs: 180_000, instructions: undefined };
    const job = { plan, transcript: {} as Transcript, model, room, settings, instructions: [], tokensBefore: 1, isNeeded: false };
    expect(await shrink(job, run)).toMatchObject({ failure: { message: 'a tap broke' } });
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

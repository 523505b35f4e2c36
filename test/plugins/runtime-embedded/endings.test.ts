import { describe, expect, test } from 'vitest';
import { definePlugin, text } from '../../../kernel/index.ts';
import { attemptOf } from '../../../plugins/models/contract.ts';
import { type Ended, Turn, TurnStopped } from '../../../plugins/turns/contract.ts';
import { untilLeft, leftBehind } from '../../../plugins/runtime-embedded/settle.ts';
import { settingsOf } from '../../../plugins/runtime-embedded/settings.ts';
import { stillClock } from '../../support/still-clock.ts';
import { calling, product, tool } from './product.ts';

const clock = stillClock();
const never = () => new Promise<never>(() => {});
const untilStopped = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
const endedOf = (meta: Readonly<Record<string, unknown>>) => (meta['ended'] ?? []) as readonly Ended[];

describe('SPEC 6.6: a tool that hangs', () => {
  test('is told to stop at its deadline; the model reads so, and the turn goes on', async () => {
    const seen: boolean[] = [];
    const begun = Promise.withResolvers<void>();
    const hanging = tool('hang', (_, { signal }) => (begun.resolve(), untilStopped(signal).finally(() => seen.push(signal.aborted))));
    await using p = await product([calling('hang'), 'went on'], { tools: [hanging], loop: { toolTimeouts: { hang: 0.02 } } });
    const asked = p.channel.ask('go');
    await begun.promise;
    await clock.passes(0.02);
    const answer = await asked;
    expect(answer.text).toBe('went on');
    expect(seen).toEqual([true]);
    expect(p.model.requests[1]?.messages.at(-1)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^hang timed out after 0\.02 s/) }],
    });
    expect(endedOf(answer.meta)).toMatchObject([{ kind: 'tool', name: 'hang', how: 'ended', why: 'deadline' }]);
  });

  test('and does not listen is left behind after its grace, its outcome unknown, and what it says later is nobody’s', async () => {
    const late = Promise.withResolvers<ReturnType<typeof text>>();
    const begun = Promise.withResolvers<AbortSignal>();
    const deaf = tool('deaf', async (_, call) => {
      begun.resolve(call.signal);
      const said = await late.promise;
      call.update(text('too late'));
      return said;
    });
    await using p = await product([calling('deaf'), 'went on'], { tools: [deaf], loop: { toolTimeoutSeconds: 0.02 } });
    const asked = p.channel.ask('go');
    const signal = await begun.promise;
    await clock.passes(0.02);
    expect(signal.aborted).toBe(true);
    await clock.passes(4);
    const answer = await asked;
    expect(answer.text).toBe('went on');
    const [result] = (await p.messages()).filter(({ role }) => role === 'toolResult');
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/timed out after 0\.02 s, and it did not stop.*interrupted, outcome unknown/s) }],
    });
    expect(endedOf(answer.meta)).toMatchObject([{ name: 'deaf', how: 'left', why: 'deadline' }]);
    expect(p.t.records).toContainEqual(expect.objectContaining({ level: 'warn', message: expect.stringContaining('left behind') }));
    late.resolve(text('late'));
    await expect
      .poll(() => p.t.records.some(({ message }) => message.includes('which was left behind, has ended')), { interval: 5 })
      .toBe(true);
    expect(p.events.filter(({ type }) => type === 'tool_execution_update')).toEqual([]);
  });

  test.each([
    [{}, 'web_fetch', 600_000],
    [{}, 'exec', undefined],
    [{}, 'process', undefined],
    [{ toolTimeoutSeconds: 5 }, 'web_fetch', 5000],
    [{ toolTimeoutSeconds: 5 }, 'exec', undefined],
    [{ toolTimeouts: { exec: 7, web_fetch: 0 } }, 'exec', 7000],
    [{ toolTimeouts: { exec: 7, web_fetch: 0 } }, 'web_fetch', undefined],
    [{ toolTimeoutSeconds: 0 }, 'toString', undefined],
    [{}, 'constructor', 600_000],
  ])('with %j %s may take %s ms', (config, name, ms) => {
    expect(settingsOf(config).timeoutMs(name)).toBe(ms);
  });
});

describe('SPEC 6.4: one tree of cancellation', () => {
  test('a stop reaches tools side by side and what works beside the turn, and says within five seconds what it ended', async () => {
    const begun = Promise.withResolvers<void>();
    const polite = tool('polite', (_, { signal }) => untilStopped(signal), { parallel: true });
    const deaf = tool('deaf', () => (begun.resolve(), never()), { parallel: true });
    const children = definePlugin({
      name: 'children',
      description: 'stands in for sub-agents',
      setup: (ctx) =>
        ctx.tap(TurnStopped, (ended, run) => [
          ...ended,
          { kind: 'child', id: 'c1', name: run.get(Turn).sessionKey, how: 'ended', why: 'stop' } as const,
        ]),
    });
    await using p = await product([calling('polite', 'deaf', 'polite')], { tools: [polite, deaf], plugins: [children] });
    const asked = p.channel.ask('go');
    await begun.promise;
    await p.stop();
    await clock.passes(4);
    const answer = await asked;
    expect(answer.meta.stopReason).toBe('aborted');
    expect(
      endedOf(answer.meta)
        .map(({ kind, name, how }) => `${how} ${kind} ${name}`)
        .toSorted(),
    ).toEqual(['ended child agent:main:main', 'ended tool polite', 'ended tool polite', 'left tool deaf']);
    const results = (await p.messages()).filter((message) => message.role === 'toolResult');
    expect(results.map(({ toolName, isError }) => [toolName, isError])).toEqual([
      ['polite', true],
      ['deaf', true],
      ['polite', true],
    ]);
    expect(results[1]?.content).toMatchObject([{ text: expect.stringContaining('interrupted, outcome unknown') }]);
    const [end] = p.events.filter(({ type }) => type === 'agent_end');
    expect(end?.data['ended']).toEqual(answer.meta['ended']);
    expect(p.t.records).toContainEqual(
      expect.objectContaining({ level: 'info', message: expect.stringMatching(/left behind tool deaf \(stop\)/) }),
    );
  });

  test('a model that does not listen to a stop is left behind, and what it had said is kept', async () => {
    const begun = Promise.withResolvers<void>();
    await using p = await product([], {
      adapter: (_, on) => {
        on({ type: 'text', index: 0, delta: 'half a ' });
        on({ type: 'text', index: 0, delta: 'sentence' });
        begun.resolve();
        return never();
      },
    });
    const asked = p.channel.ask('go');
    await begun.promise;
    await p.stop();
    await clock.passes(1);
    const answer = await asked;
    expect(answer).toMatchObject({ text: 'half a sentence', meta: { stopReason: 'aborted' } });
    expect(endedOf(answer.meta)).toMatchObject([{ kind: 'model', name: 'own/own', why: 'stop' }]);
    expect(await p.history()).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'text', text: 'half a sentence' }] },
    ]);
  });

  test('a turn that ends by itself ends nothing beside it', async () => {
    const asked: string[] = [];
    const children = definePlugin({
      name: 'children',
      description: '',
      setup: (ctx) => ctx.tap(TurnStopped, (ended) => (asked.push('x'), ended)),
    });
    await using p = await product(['fine'], { plugins: [children] });
    const answer = await p.channel.ask('go');
    expect(answer.meta['ended']).toBeUndefined();
    expect(asked).toEqual([]);
  });

  test('work that settles in its grace is what it came to; work that does not is left', async () => {
    const stop = new AbortController();
    const work = Promise.withResolvers<string>();
    const settled = untilLeft(work.promise, stop.signal, 10_000);
    stop.abort();
    work.resolve('in time');
    expect(await settled).toBe('in time');
    const deaf = untilLeft(never(), AbortSignal.abort(), 1000);
    await clock.passes(1);
    expect(await deaf).toBe(leftBehind);
    await expect(untilLeft(Promise.reject(new Error('own')), AbortSignal.abort(), 1)).rejects.toThrow('own');
  });
});

describe('SPEC 6.6: the loop guard in a turn', () => {
  const same = tool('same', () => text('nothing new'));
  test('warns the model at the third time and ends the turn at the fifth; the next turn begins anew', async () => {
    await using p = await product((_, number) => (number < 5 ? calling('same') : 'another try'), { tools: [same] });
    const answer = await p.channel.ask('go');
    expect(answer.meta.error).toMatchObject({ code: 'TURN_LOOP', message: expect.stringContaining('"same" 5 times') });
    expect(answer.payloads.at(-1)).toMatchObject({ isError: true });
    expect(p.model.requests).toHaveLength(5);
    const results = (await p.messages()).filter(({ role }) => role === 'toolResult');
    expect(results.map(({ content }) => content.length)).toEqual([1, 1, 2, 2, 1]);
    expect((await p.channel.ask('and now')).text).toBe('another try');
  });

  test('two calls of one reply in turns are ended likewise, and no call is without a result', async () => {
    const other = tool('other', () => text('nothing here either'), { parallel: true });
    await using p = await product(() => calling('same', 'other', 'same'), { tools: [same, other] });
    expect((await p.channel.ask('go')).meta.error).toMatchObject({ code: 'TURN_LOOP' });
    const messages = await p.messages();
    const calls = messages.flatMap((message) =>
      message.role === 'assistant' ? message.content.filter(({ type }) => type === 'toolCall') : [],
    );
    expect(messages.filter(({ role }) => role === 'toolResult')).toHaveLength(calls.length);
  });

  test('U118, U119: calls of a tool that is not there, whatever their arguments, and calls with wrong ones end likewise', async () => {
    const strict = tool('strict', () => text('never'), {
      parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    });
    const calls = (name: string) => (_: unknown, number: number) => ({ calls: [{ name, args: name === 'strict' ? {} : { n: number } }] });
    for (const name of ['no_such_tool', 'strict']) {
      await using p = await product(calls(name), { tools: [strict] });
      expect((await p.channel.ask('go')).meta.error).toMatchObject({ code: 'TURN_LOOP' });
      expect(p.model.requests).toHaveLength(5);
    }
  });

  test('where it is off, or the results differ, the turn goes on', async () => {
    let n = 0;
    const counting = tool('count', () => text(String(n++)));
    const script = (name: string) => (_: unknown, number: number) => (number < 8 ? calling(name) : 'done');
    await using off = await product(script('same'), { tools: [same], loop: { loopGuard: { enabled: false } } });
    expect((await off.channel.ask('go')).text).toBe('done');
    await using on = await product(script('count'), { tools: [counting] });
    expect((await on.channel.ask('go')).text).toBe('done');
  });
});

test('a reply of which nothing is kept ends in the events all the same', async () => {
  await using p = await product([], {
    adapter: async ({ model }, on) => {
      on({ type: 'toolCall', index: 0, id: 'c', name: 'read', delta: '{"pa' });
      return attemptOf(model, { content: [] }, { code: 'MODEL_STREAM_CUT', message: 'cut' });
    },
  });
  await p.channel.ask('go');
  const [start, end] = [p.events.filter(({ type }) => type === 'message_start'), p.events.filter(({ type }) => type === 'message_end')];
  expect(end.map(({ data }) => data['messageId'])).toEqual(expect.arrayContaining(start.map(({ data }) => data['messageId'])));
});

import { describe, expect, test } from 'vitest';
import { text } from '../../../kernel/index.ts';
import { attemptOf, invalidArguments, type ModelRequest } from '../../../plugins/models/contract.ts';
import type { AssistantPart, StopReason } from '../../../plugins/sessions/contract.ts';
import { product, tool } from './product.ts';

type Said = readonly [StopReason, ...AssistantPart[]];
const words = (said: string) => ({ type: 'text', text: said }) as const;
const thought = { type: 'thinking', thinking: 'hm' } as const;
const call = (id: string, args = {}) => ({ type: 'toolCall', id, name: 'scribble', arguments: args }) as const;
const cutCall = (id: string, raw = '{"path":"a","content":"half of') => call(id, invalidArguments(raw));

/** The product whose model gives these replies, the last one again and again. */
const talking = (...replies: readonly Said[]) => talkingWith({}, ...replies);

/** The same with what its tool tells of itself, and settings of the loop. */
async function talkingWith({ details, loop = {} }: { readonly details?: unknown; readonly loop?: object }, ...replies: readonly Said[]) {
  const requests: ModelRequest[] = [];
  const p = await product([], {
    tools: [tool('scribble', () => ({ ...text('written'), ...(details !== undefined && { details }) }))],
    loop: { ...loop },
    adapter: async (request) => {
      requests.push({ ...request, messages: [...request.messages] });
      const [stopReason, ...content] = replies[Math.min(requests.length, replies.length) - 1] as Said;
      const usage = { input: 1, output: 700, cacheRead: 0, cacheWrite: 0, totalTokens: 701 };
      return attemptOf(request.model, { content, stopReason, usage });
    },
  });
  return Object.assign(p, { requests });
}
const lastOf = ({ messages }: ModelRequest) => messages.at(-1);

describe('a reply without a word', () => {
  test.each([
    ['at the beginning of a turn', [['stop']], 2],
    ['with nothing but thought', [['stop', thought]], 2],
    ['behind a result', [['toolUse', call('1')], ['stop']], 3],
  ] as const)('%s is asked for once more, then it is a failure that says so', async (_, replies, requests) => {
    await using p = await talking(...replies);
    const answer = await p.channel.ask('go');
    expect(p.requests).toHaveLength(requests);
    expect(lastOf(p.requests.at(-1)!)).toMatchObject({ role: 'user', content: expect.stringContaining('Your last reply was empty') });
    expect(answer.meta).toMatchObject({ stopReason: 'error', error: { code: 'REPLY_EMPTY' } });
    expect(answer.payloads).toMatchObject([{ isError: true, text: expect.stringContaining('send the message again') }]);
    expect(answer.meta.usage).toMatchObject({ output: requests * 700 }); // what came to nothing was paid for as well
    expect(JSON.stringify(await p.messages())).not.toContain('Your last reply');
  });

  test('that is asked for once more may be an answer', async () => {
    await using p = await talking(['toolUse', call('1')], ['stop'], ['stop', words('here it is')]);
    const answer = await p.channel.ask('go');
    expect(answer).toMatchObject({ text: 'here it is', meta: { stopReason: 'stop' } });
    expect((await p.messages()).map(({ role }) => role)).toEqual(['user', 'assistant', 'toolResult', 'assistant']);
  });

  test.each([
    ['made something to see', { mediaUrls: ['file:///p.png'] }, [{ mediaUrls: ['file:///p.png'] }]],
    ['told somebody', { sent: { target: 'fake:main', texts: ['hello'] } }, []],
  ])('behind a tool that %s is the end of the turn', async (_, details, payloads) => {
    await using p = await talkingWith({ details }, ['toolUse', call('1')], ['stop']);
    const answer = await p.channel.ask('go');
    expect(p.requests).toHaveLength(2);
    expect(answer.payloads).toEqual(payloads);
    expect(answer.meta).toMatchObject({ stopReason: 'stop' });
    expect(answer.meta.error).toBeUndefined();
    // What an earlier turn delivered does not speak for this one: it is asked once more, and fails.
    const next = await p.channel.ask('and now?');
    expect(p.requests).toHaveLength(4);
    expect(next.meta.error).toMatchObject({ code: 'REPLY_EMPTY' });
  });

  test('may come again later in the turn, after the model has gone on', async () => {
    const replies: readonly Said[] = [['stop'], ['toolUse', call('1')], ['stop'], ['stop', words('all done')]];
    await using p = await talking(...replies);
    expect((await p.channel.ask('go')).text).toBe('all done');
  });

  test('in the last round does not lift the limit of rounds', async () => {
    const rounds = Array.from({ length: 99 }, (__, i): Said => ['toolUse', call(String(i), { i })]);
    await using p = await talkingWith({ loop: { loopGuard: { enabled: false } } }, ...rounds, ['stop'], ['stop', words('too late')]);
    expect((await p.channel.ask('go')).meta.error).toMatchObject({ code: 'TURN_ENDLESS' });
    expect(p.requests).toHaveLength(100);
  });

  test('for which thinking left no room is a failure that says what to raise', async () => {
    await using p = await talking(['length', thought]);
    const answer = await p.channel.ask('go');
    expect(p.requests).toHaveLength(1);
    expect(answer.meta.error).toMatchObject({ code: 'REPLY_CUT', message: expect.stringMatching(/cut at 700 tokens; raise maxTokens/) });
    expect(answer.payloads).toMatchObject([{ isError: true }]);
  });

  test('that is NO_REPLY is silence, and no failure', async () => {
    await using p = await talking(['stop', words('NO_REPLY')]);
    const answer = await p.channel.ask('go');
    expect(answer).toMatchObject({ payloads: [], meta: { stopReason: 'stop' } });
    expect(answer.meta.error).toBeUndefined();
  });
});

test('an answer that the length limit cut is shown, and so is that it was cut', async () => {
  await using p = await talking(['length', words('once upon a')]);
  const answer = await p.channel.ask('go');
  expect(answer.payloads).toEqual([{ text: 'once upon a' }, { text: expect.stringContaining('cut at 700 tokens'), isError: true }]);
  expect(answer.meta).toMatchObject({ stopReason: 'length' });
  expect(answer.meta.error).toBeUndefined();
});

describe('a call that the length limit cut', () => {
  test('does not run: the model is told why, and goes on in smaller pieces', async () => {
    await using p = await talking(['length', cutCall('1')], ['toolUse', call('2', { path: 'a' })], ['stop', words('written')]);
    expect((await p.channel.ask('go')).text).toBe('written');
    const [result, note] = p.requests[1]?.messages.slice(-2) ?? [];
    expect(result).toMatchObject({ role: 'toolResult', isError: true });
    expect(note).toMatchObject({ role: 'user', content: expect.stringContaining('smaller pieces') });
    expect(JSON.stringify(await p.messages())).not.toContain('smaller pieces');
  });

  test('SPEC 6.6: again and again ends the turn, however differently it was cut', async () => {
    await using p = await talking(...Array.from({ length: 9 }, (_, i): Said => ['length', cutCall(String(i), `{"content":"${i}`)]));
    expect((await p.channel.ask('go')).meta.error).toMatchObject({ code: 'TURN_LOOP' });
    expect(p.requests).toHaveLength(5);
  });

  test('makes no cut answer of the words beside it', async () => {
    await using p = await talking(['length', words('Now I write.'), cutCall('1')]);
    const answer = await p.channel.ask('go');
    expect(answer.payloads).toEqual([{ text: 'Now I write.' }, { text: expect.stringContaining('TURN_LOOP'), isError: true }]);
  });

  test('before its first argument is told so', async () => {
    await using p = await talking(['length', cutCall('1', '')], ['stop', words('ok')]);
    await p.channel.ask('go');
    const result = p.requests[1]?.messages.at(-2);
    expect(JSON.stringify(result)).toContain('The arguments are missing: the call was cut');
  });
});

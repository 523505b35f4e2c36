import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Payload } from '../../../plugins/outbox/contract.ts';
import type { Message } from '../../../plugins/sessions/contract.ts';
import type { Sent, TurnOutcome } from '../../../plugins/turns/contract.ts';
import { messagingOf, told, withoutRepeats } from '../../../plugins/turns/sent.ts';
import { text } from '../../../kernel/index.ts';
import { calling, key, product, tool } from '../runtime-embedded/product.ts';

const sent = (texts: readonly string[], mediaUrls: readonly string[] = [], target = 'here'): Sent => ({ target, texts, mediaUrls });

describe('SPEC 6.2: a reply does not repeat what a tool sent to the same place', () => {
  test.each<[string, readonly Payload[], readonly Sent[], readonly Payload[]]>([
    ['nothing was sent', [{ text: 'a' }], [], [{ text: 'a' }]],
    ['the same text', [{ text: 'Done.' }], [sent(['Done.'])], []],
    ['the same but for space and line ends', [{ text: ' It is\n done. ' }], [sent(['It is done.'])], []],
    ['another text', [{ text: 'Sent it.' }], [sent(['It is done.'])], [{ text: 'Sent it.' }]],
    ['a text with more in it', [{ text: 'It is done. Anything else?' }], [sent(['It is done.'])], [{ text: 'It is done. Anything else?' }]],
    ['two that were sent as two', [{ text: 'a\n\nb' }], [sent(['a']), sent(['b'])], []],
    ['two that were sent as one list', [{ text: 'a b' }], [sent(['a', 'b'])], []],
    ['the text is known, the picture is not', [{ text: 'a', mediaUrls: ['x'] }], [sent(['a'])], [{ mediaUrls: ['x'] }]],
    ['the picture is known, the text is not', [{ text: 'a', mediaUrls: ['x', 'y'] }], [sent([], ['x'])], [{ text: 'a', mediaUrls: ['y'] }]],
    ['one picture of its own field', [{ mediaUrl: 'x', replyToId: '1' }], [sent([], ['x'])], []],
    ['an error stays', [{ text: 'a', isError: true }], [sent(['a'])], [{ text: 'a', isError: true }]],
    ['an empty text is not known', [{ text: 'b' }], [sent([''])], [{ text: 'b' }]],
  ])('%s', (_, payloads, list, expected) => {
    expect(withoutRepeats(payloads, list)).toEqual(expected);
  });

  test('what is left was there before, in its order, and filtering twice changes nothing', () => {
    const word = fc.constantFrom('a', 'b', ' a ', 'a b', '');
    const payload = fc.record({ text: word, mediaUrls: fc.array(word, { maxLength: 2 }), isError: fc.boolean() });
    const list = fc.array(fc.record({ target: fc.constant('here'), texts: fc.array(word), mediaUrls: fc.array(word) }));
    fc.assert(
      fc.property(fc.array(payload), list, (payloads, sentHere) => {
        const left = withoutRepeats(payloads, sentHere);
        expect(withoutRepeats(left, sentHere)).toEqual(left);
        expect(left.filter(({ isError }) => isError)).toEqual(payloads.filter(({ isError }) => isError));
        const texts = payloads.map((one) => one.text);
        for (const one of left) if (one.text !== undefined) expect(texts).toContain(one.text);
      }),
    );
  });
});

const result = (details: unknown, isError = false): Message => ({
  role: 'toolResult',
  toolCallId: 'c',
  toolName: 't',
  content: [],
  details,
  isError,
  timestamp: 1,
});

test('the facts of SPEC 6.2 are read from results; foreign details of any form do no harm', () => {
  const messages = [
    result({ sent: { target: 'telegram:1', texts: ['hi'], mediaUrls: ['u'] } }),
    result({ sent: [{ target: 'telegram:1', texts: ['again'] }, { target: 'agent:b:main' }] }),
    result({ sent: { target: 'telegram:1', texts: ['never arrived'] } }, true),
    result({ cronAdds: 2 }),
    ...[
      null,
      'x',
      [],
      { sent: 5 },
      { sent: { target: 5 } },
      { sent: [null, { target: 'x', texts: [1] }] },
      { cronAdds: 'many' },
      { cronAdds: -1 },
    ].map((one) => result(one)),
  ];
  expect(messagingOf(messages)).toEqual({
    didSendViaMessagingTool: true,
    messagingToolSentTexts: ['hi', 'again'],
    messagingToolSentMediaUrls: ['u'],
    messagingToolSentTargets: ['telegram:1', 'agent:b:main', 'x'],
    successfulCronAdds: 2,
  });
});

test('only what went to the place that the reply goes to counts: its route or its session', () => {
  const outcome: TurnOutcome = {
    payloads: [{ text: 'hi' }],
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
    stopReason: 'stop',
  };
  const to = (target: string) =>
    told(outcome, [result({ sent: { target, texts: ['hi'] } })], { route: 'telegram:1', sessionKey: 'agent:a:main' }).payloads;
  expect([to('telegram:1'), to('agent:a:main'), to('telegram:2')]).toEqual([[], [], [{ text: 'hi' }]]);
  expect(told(outcome, [result({})], { route: 'x:1', sessionKey: 's' })).toBe(outcome);
});

test('in a turn: the tool’s message is not said twice, and the answer tells what was sent', async () => {
  const message = tool('message', () => ({ ...text('sent'), details: { sent: { target: key, texts: ['It is done.'] }, cronAdds: 1 } }));
  await using p = await product([calling('message'), 'It is  done.', calling('message'), 'And more.'], { tools: [message] });
  const first = await p.channel.ask('go');
  expect(first.payloads).toEqual([]);
  expect(first.meta).toMatchObject({
    didSendViaMessagingTool: true,
    messagingToolSentTargets: [key],
    successfulCronAdds: 1,
    durationMs: expect.any(Number),
  });
  expect((await p.channel.ask('go')).text).toBe('And more.');
  const ends = p.events.filter(({ type }) => type === 'agent_end');
  expect(ends[0]?.data).toMatchObject({ didSendViaMessagingTool: true, messagingToolSentTexts: ['It is done.'] });
});

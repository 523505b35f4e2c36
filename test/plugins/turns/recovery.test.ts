import { expect, test } from 'vitest';
import type { InboxItem } from '../../../plugins/inbox/contract.ts';
import type { AssistantMessage, Entry, Message, Transcript } from '../../../plugins/sessions/contract.ts';
import { writtenBefore } from '../../../plugins/turns/recovery.ts';

const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2 };
const user = (content: string): Message => ({ role: 'user', content, timestamp: 1 });
const facts = { api: 'a', provider: 'p', model: 'm', usage, timestamp: 1 } as const;
const reply = (stopReason: AssistantMessage['stopReason'], more: Partial<AssistantMessage> = {}): Message => ({
  role: 'assistant',
  content: [{ type: 'text', text: stopReason }],
  stopReason,
  ...facts,
  ...more,
});
const calling = (stopReason: AssistantMessage['stopReason']) =>
  reply(stopReason, { content: [{ type: 'toolCall', id: 'c', name: 'exec', arguments: {} }] });
const cutLine = { text: expect.stringContaining('cut at 1 tokens'), isError: true };
const result: Message = { role: 'toolResult', toolCallId: 'c', toolName: 'exec', content: [], isError: false, timestamp: 1 };

const item = (more: Partial<InboxItem> = {}) => ({ itemId: 'mine', attempt: 2, content: 'x', ...more }) as InboxItem;
/** `mine` and `other` are inputs of items, `joined` one that joined the turn of `mine`; the rest follows them. */
const transcript = (...messages: readonly (Message | 'mine' | 'other' | 'joined')[]) => {
  const entries = messages.map((one, i) => {
    const message = typeof one === 'string' ? user(one) : one;
    const entry: Entry = { type: 'message', id: `e${i}`, parentId: null, timestamp: '', message };
    return typeof one === 'string' ? { ...entry, itemId: one, ...(one === 'joined' && { joins: 'mine' }) } : entry;
  });
  return { entries } as unknown as Transcript;
};

test.each([
  ['nothing of it is written', [], { input: 0 }],
  ['only others spoke', ['other', reply('stop')], { input: 0 }],
  ['it was asked', ['mine'], { input: 1 }],
  ['a call has no result', ['mine', calling('toolUse')], { input: 1 }],
  ['a call has no result and the model says stop beside it', ['mine', calling('stop')], { input: 1 }],
  ['the model has not seen the result', ['mine', calling('toolUse'), result], { input: 1 }],
  ['it was answered', ['mine', reply('stop')], { input: 1, outcome: { stopReason: 'stop', payloads: [{ text: 'stop' }], usage } }],
  [
    'the answer was cut',
    ['mine', reply('length')],
    { input: 1, outcome: { stopReason: 'length', payloads: [{ text: 'length' }, cutLine] } },
  ],
  ['it was stopped', ['mine', reply('aborted')], { input: 1, outcome: { stopReason: 'aborted', payloads: [{ text: 'aborted' }] } }],
  [
    'the model failed within its answer',
    ['mine', reply('error', { errorMessage: 'the line broke' })],
    { input: 1, outcome: { stopReason: 'error', error: { message: 'the line broke' }, payloads: [{ text: 'error' }, { isError: true }] } },
  ],
  [
    'others spoke after its answer',
    ['mine', reply('length'), 'other', reply('stop')],
    { input: 1, outcome: { payloads: [{ text: 'length' }, cutLine] } },
  ],
] as const)('a turn that a crash interrupted goes on from its own tail: %s', (_, messages, expected) => {
  expect(writtenBefore(transcript(...messages), item())).toMatchObject(expected);
});

test('what it brings itself is written on from where it was broken off', () => {
  const bringing = item({ history: [user('a'), reply('stop')] });
  expect(writtenBefore(transcript('mine'), bringing)).toMatchObject({ input: 1 });
  expect(writtenBefore(transcript('mine', 'mine'), bringing)).toMatchObject({ input: 2 }); // a reply of its history is no answer
  expect(writtenBefore(transcript('mine', 'mine', 'mine'), bringing)).toMatchObject({ input: 3 });
});

test.each([
  ['later messages would stand before its answer', ['mine', calling('toolUse'), result, 'other', reply('stop')], 2],
  ['it took the process down again and again', ['mine'], 6],
] as const)('it is refused, to be sent again, where %s', (_, messages, attempt) => {
  expect(() => writtenBefore(transcript(...messages), item({ attempt }))).toThrow(expect.objectContaining({ code: 'TURN_INTERRUPTED' }));
});

test('what joined its turn belongs to it: the turn goes on, or has its end, for both', () => {
  const cut = transcript('mine', calling('toolUse'), result, 'joined');
  expect(writtenBefore(cut, item())).toEqual({ input: 1, joined: ['joined'] });
  const answered = transcript('mine', 'joined', reply('stop'), 'other');
  expect(writtenBefore(answered, item())).toMatchObject({ joined: ['joined'], outcome: { stopReason: 'stop' } });
});

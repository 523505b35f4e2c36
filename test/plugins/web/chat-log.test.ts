import { join } from 'node:path';
import { expect, test } from 'vitest';

interface ChatLog {
  load(entries: readonly object[], active: undefined): void;
  tell(itemId: string, delivery: object): void;
  readonly rows: readonly { readonly kind: string }[];
  readonly unanswered: readonly string[];
}
const page = join(import.meta.dirname, '../../../plugins/web/page/chat-log.js');
const { createChatLog } = (await import(page)) as { readonly createChatLog: (changed: () => void) => ChatLog };

const timestamp = new Date(1000).toISOString();
const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2 };
const entry = (id: string, message: object, itemId?: string) => ({
  type: 'message',
  id,
  timestamp,
  message: { timestamp: 1, ...message },
  itemId,
});
const reply = (stopReason: string, ...content: readonly object[]) => ({
  role: 'assistant',
  provider: 'p',
  model: 'm',
  usage,
  stopReason,
  content,
});
const call = { type: 'toolCall', id: 'c', name: 'x', arguments: {} };
const words = { type: 'text', text: 'I look' };
const result = entry('3', { role: 'toolResult', toolCallId: 'c', content: [], isError: false });

test.each([
  ['toolUse', 'stopped while tools ran'],
  ['length', 'ended by the loop guard after cut calls'],
])('a stored turn whose last reply called tools (%s: %s) has its end from its stored answer', (stopReason) => {
  const log = createChatLog(() => {});
  const asked = entry('1', { role: 'user', content: 'go' }, 'i1');
  log.load([asked, entry('2', reply(stopReason, words, call)), result], undefined);
  expect(log.unanswered).toEqual(['i1']);
  const error = { code: 'REPLY_EMPTY', message: 'p/m answered nothing' };
  log.tell('i1', { meta: { usage, stopReason: 'error', error }, payloads: [{ text: 'I look' }] });
  expect(log.rows.filter(({ kind }) => kind === 'end')).toMatchObject([{ id: 'end:i1', stopReason: 'error', error, model: 'p/m' }]);
  log.tell('i1', { meta: { usage, stopReason: 'aborted' }, payloads: [{ text: 'I look' }] });
  expect(log.rows.filter(({ kind }) => kind === 'end')).toMatchObject([{ stopReason: 'aborted', notes: [] }]);
});

test('a stored turn that ended with an answer needs nobody to tell its end', () => {
  const log = createChatLog(() => {});
  const asked = entry('1', { role: 'user', content: 'go' }, 'i1');
  log.load([asked, entry('2', reply('toolUse', call)), result, entry('4', reply('stop', words))], undefined);
  expect(log.unanswered).toEqual([]);
});

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AssistantMessage, Message, ToolResultMessage } from '../../../plugins/sessions/contract.ts';
import { callsOf, interrupted, openCalls, validHistory } from '../../../plugins/sessions/repair.ts';

const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
const user = (text: string): Message => ({ role: 'user', content: text, timestamp: 1 });
const assistant = (content: AssistantMessage['content'], stopReason: AssistantMessage['stopReason'] = 'stop'): AssistantMessage => ({
  role: 'assistant',
  api: 'x',
  provider: 'p',
  model: 'm',
  usage,
  timestamp: 1,
  content,
  stopReason,
});
const call = (id: string) => ({ type: 'toolCall' as const, id, name: 'read', arguments: {} });
const result = (toolCallId: string): ToolResultMessage => ({
  role: 'toolResult',
  toolName: 'read',
  isError: false,
  timestamp: 1,
  toolCallId,
  content: [
    {
      type: 'text',
      text: toolCallId,
    },
  ],
});

test('SPEC 6.4: a call without a result gets one that says so; a result without a call goes', () => {
  const broken = [user('a'), assistant([call('1'), call('2')], 'toolUse'), result('2'), user('b'), result('9')];
  const fixed = validHistory(broken);
  expect(fixed.map((m) => (m.role === 'toolResult' ? m.toolCallId : m.role))).toEqual(['user', 'assistant', '1', '2', 'user']);
  expect(fixed[2]).toMatchObject({ isError: true, content: [{ text: interrupted }] });
});

test('what is sound keeps its identity, so that its wire form stays cached', () => {
  const sound = [user('a'), assistant([call('1')], 'toolUse'), result('1'), assistant([{ type: 'text', text: 'done' }])];
  expect(validHistory(sound)).toEqual(sound);
  for (const [i, message] of validHistory(sound).entries()) expect(message).toBe(sound[i]);
});

test('calls at the end that wait for results are found', () => {
  expect(openCalls([user('a'), assistant([call('1'), call('2')]), result('1')]).map((c) => c.id)).toEqual(['2']);
  expect(openCalls([user('a'), assistant([call('1')]), result('1'), user('b')])).toEqual([]);
});

/** What the providers' rules say of a request's messages. */
function faults(messages: readonly Message[]): string[] {
  const found: string[] = [];
  let waiting: string[] = [];
  for (const message of messages) {
    if (message.role === 'toolResult') {
      if (waiting[0] !== message.toolCallId) found.push(`result ${message.toolCallId} out of place`);
      waiting = waiting.slice(1);
      continue;
    }
    if (waiting.length) found.push(`calls ${waiting.join()} unanswered`);
    waiting = message.role === 'assistant' ? callsOf(message).map((c) => c.id) : [];
    if (message.role === 'assistant' && message.content.length === 0) found.push('empty message');
  }
  if (waiting.length) found.push(`calls ${waiting.join()} unanswered at the end`);
  return found;
}

test('any pile of messages becomes a history without faults, and repairing twice changes nothing', () => {
  const id = fc.constantFrom('1', '2', '3', '4');
  const part = fc.oneof(id.map(call), fc.constant({ type: 'text' as const, text: 't' }));
  const parts = fc.uniqueArray(part, { maxLength: 4, selector: (p) => (p.type === 'toolCall' ? p.id : 'text') });
  const message = fc.oneof(
    fc.constant(user('u')),
    fc
      .tuple(parts, fc.constantFrom('stop' as const, 'toolUse' as const, 'error' as const, 'aborted' as const))
      .map(([p, s]) => assistant(p, s)),
    id.map(result),
  );
  fc.assert(
    fc.property(fc.array(message, { maxLength: 12 }), (pile) => {
      const fixed = validHistory(pile);
      expect(faults(fixed)).toEqual([]);
      expect(validHistory(fixed)).toEqual(fixed);
    }),
    { numRuns: 500 },
  );
});

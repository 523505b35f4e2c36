import { expect, test } from 'vitest';
import { joining, type Message, summaryLead, type UserMessage } from '../../../plugins/sessions/contract.ts';
import { limitHistoryTurns } from '../../../plugins/sessions/history-limit.ts';

const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
const user = (content: string): UserMessage => ({ role: 'user', content, timestamp: 1 });
const joined = (content: string) => joining(user(content));
const assistant: Message = { role: 'assistant', content: [], api: 'x', provider: 'p', model: 'm', usage, stopReason: 'stop', timestamp: 1 };
const calling: Message = { ...assistant, content: [{ type: 'toolCall', id: 'c', name: 'read', arguments: {} }] };
const result: Message = { role: 'toolResult', toolCallId: 'c', toolName: 'read', content: [], isError: false, timestamp: 1 };
const history = [user('1'), assistant, user('2'), assistant, assistant, user('3')];

test('SPEC 12.1: only the last turns are shown, each from its user message on', () => {
  expect(limitHistoryTurns(history, 1)).toEqual([user('3')]);
  expect(limitHistoryTurns(history, 2)).toEqual(history.slice(2));
  expect(limitHistoryTurns(history, 9)).toBe(history);
  expect(limitHistoryTurns(history, undefined)).toBe(history);
});

test('messages that were collected into a turn are part of it', () => {
  const collected = [user('my code'), joined('the error'), joined('fix it')];
  expect(limitHistoryTurns([user('1'), assistant, ...collected], 1)).toEqual(collected);
  expect(limitHistoryTurns([...collected, assistant, user('2')], 2)).toHaveLength(5);
});

test('messages that steered a turn are part of it: what it was asked first is never cut from it', () => {
  const turn = [user('TASK'), calling, result, joined('steer one'), calling, result, joined('steer two')];
  for (const limit of [1, 2]) expect(limitHistoryTurns(turn, limit)).toBe(turn);
  expect(limitHistoryTurns([user('1'), assistant, ...turn], 1)).toEqual(turn);
});

test('a summary is part of the turn that follows it', () => {
  const summed = [user(`${summaryLead} they met`), user('1'), assistant, user('2')];
  expect(limitHistoryTurns(summed, 2)).toBe(summed);
  expect(limitHistoryTurns(summed, 1)).toEqual([user('2')]);
});

test.each([
  ['were stopped while a tool ran', [calling, result]],
  ['failed before a word', []],
  ['failed in the middle of one', [{ ...assistant, stopReason: 'error' } as const]],
])('SPEC 12.1: turns that %s count like any other', (_, left: readonly Message[]) => {
  const turns = Array.from({ length: 40 }, (__, i) => [user(`ask ${i}`), ...left]).flat();
  expect(limitHistoryTurns(turns, 2)).toEqual(turns.slice(-2 * (1 + left.length)));
});

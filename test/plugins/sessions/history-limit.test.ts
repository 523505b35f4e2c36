import { expect, test } from 'vitest';
import type { Message } from '../../../plugins/sessions/contract.ts';
import { limitHistoryTurns } from '../../../plugins/sessions/history-limit.ts';

const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
const user = (content: string): Message => ({ role: 'user', content, timestamp: 1 });
const assistant: Message = { role: 'assistant', content: [], api: 'x', provider: 'p', model: 'm', usage, stopReason: 'stop', timestamp: 1 };
const history = [user('1'), assistant, user('2'), assistant, assistant, user('3')];

test('SPEC 12.1: only the last turns are shown, each from its user message on', () => {
  expect(limitHistoryTurns(history, 1)).toEqual([user('3')]);
  expect(limitHistoryTurns(history, 2)).toEqual(history.slice(2));
  expect(limitHistoryTurns(history, 9)).toBe(history);
  expect(limitHistoryTurns(history, undefined)).toBe(history);
});

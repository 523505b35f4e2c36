import { expect, test } from 'vitest';
import type { InboxItem } from '../../../plugins/inbox/contract.ts';
import { openLanes } from '../../../plugins/inbox/lanes.ts';

const item = (itemId: string, sessionKey = 's') => ({ itemId, sessionKey, enqueuedAt: 0 }) as InboxItem;

/** Lanes whose turns end when told to. */
function stage(left: readonly InboxItem[] = []) {
  const running = new Map<string, { readonly signal: AbortSignal; end(): void; fail(): void }>();
  const begun: string[] = [];
  const errors: unknown[] = [];
  const take = (one: InboxItem, signal: AbortSignal) =>
    new Promise<void>((end, fail) => {
      begun.push(one.itemId);
      running.set(one.itemId, { signal, end, fail: () => fail(new Error('broke')) });
    });
  return { lanes: openLanes(take, (error) => errors.push(error), left), running, begun, errors, settle: () => new Promise(setImmediate) };
}

test('SPEC 6.3: one turn at a time per session, in order; sessions side by side', async () => {
  const { lanes, running, begun, settle } = stage();
  for (const one of [item('1'), item('2'), item('x', 'other')]) lanes.enqueue(one);
  expect(begun).toEqual(['1', 'x']);
  running.get('1')?.end();
  await settle();
  expect(begun).toEqual(['1', 'x', '2']);
});

test('a turn that breaks is reported and the lane goes on', async () => {
  const { lanes, running, begun, errors, settle } = stage();
  for (const one of [item('1'), item('2')]) lanes.enqueue(one);
  running.get('1')?.fail();
  await settle();
  expect([begun, errors.length]).toEqual([['1', '2'], 1]);
});

test('cancel takes a waiting item out and tells a running one to end', async () => {
  const { lanes, running, begun, settle } = stage();
  for (const one of [item('1'), item('2'), item('3')]) lanes.enqueue(one);
  expect([lanes.cancel('2', 'no'), lanes.cancel('1', 'no'), lanes.cancel('9', 'no')]).toEqual(['waiting', 'running', undefined]);
  expect(running.get('1')?.signal.aborted).toBe(true);
  running.get('1')?.end();
  await settle();
  expect(begun).toEqual(['1', '3']);
});

test('once retired nothing new begins; resumed, what waited does', async () => {
  const { lanes, running, begun, settle } = stage();
  lanes.enqueue(item('1'));
  lanes.retire();
  lanes.enqueue(item('2'));
  running.get('1')?.end();
  await settle();
  expect(begun).toEqual(['1']);
  lanes.resume();
  expect(begun).toEqual(['1', '2']);
});

test('what the last process left goes first, once', () => {
  const { lanes, begun } = stage([item('old')]);
  lanes.begin();
  lanes.begin();
  expect(begun).toEqual(['old']);
});

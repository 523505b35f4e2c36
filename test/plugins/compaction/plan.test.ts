import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutAt, underWay } from '../../../plugins/compaction/cut.ts';
import { tokensOf } from '../../../plugins/compaction/estimate.ts';
import { planOf, withVerbatim } from '../../../plugins/compaction/plan.ts';
import { inBytes } from '../../../plugins/compaction/record.ts';
import { limitOf, roomFor } from '../../../plugins/compaction/room.ts';
import { shortResults, shortText } from '../../../plugins/compaction/shorten.ts';
import { beginsTurn, joining, type Message, type ShownMessage } from '../../../plugins/sessions/contract.ts';
import { validHistory } from '../../../plugins/sessions/repair.ts';
import { type BranchRecord, shownRecords } from '../../../plugins/sessions/shown-messages.ts';
import { assistant, histories, result, said, shownOf, user } from './histories.ts';

const settings = { isOn: true, reserve: 16_384, keepRecent: 1_500, timeoutMs: 1, instructions: undefined };

/** A request as each provider wants it: a user first, each call answered at once and once, no result alone. */
function problemIn(messages: readonly Message[]): string | undefined {
  if (messages[0]?.role !== 'user') return 'it does not begin with a user';
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === 'toolResult') {
      if (open.shift() !== message.toolCallId) return `a result out of place: ${message.toolCallId}`;
      continue;
    }
    if (open.length > 0) return `no result for ${open.join()}`;
    if (message.role === 'assistant') open = message.content.flatMap((part) => (part.type === 'toolCall' ? [part.id] : []));
  }
  return open.length > 0 ? `no result for ${open.join()}` : undefined;
}

/** As the transcript shows it once the record is written, with a summary as long as it may be. */
function compacted(shown: readonly ShownMessage[], plan: NonNullable<ReturnType<typeof planOf>>): readonly ShownMessage[] {
  const records: BranchRecord[] = shown.map(({ entryId: id, message }) => ({ type: 'message', id, message }));
  const summary = withVerbatim(inBytes('sum '.repeat(10_000), plan.tokens * 3.5), plan);
  return shownRecords([...records, { type: 'compaction', id: 'c', summary, firstKeptEntryId: plan.firstKeptEntryId }]);
}

const messagesIn = (shown: readonly ShownMessage[]) => shown.map(({ message }) => message);
const roomIn = (messages: readonly Message[]) =>
  roomFor('overflow', { window: 16_000, fixed: 500, conversation: tokensOf(messages) }, settings);

test('SPEC 7.7: any history is valid and smaller when compacted, keeps the newest turns as they are, and settles', () => {
  fc.assert(
    fc.property(histories, (messages) => {
      expect(problemIn(messages)).toBeUndefined();
      const [shown, room] = [shownOf(messages), roomIn(messages)];
      const plan = room && planOf(shown, room);
      if (!plan) return;
      const after = compacted(shown, plan);
      const now = messagesIn(after);
      expect(problemIn(now)).toBeUndefined();
      expect(validHistory(now)).toEqual(now);
      expect(tokensOf(now)).toBeLessThan(tokensOf(messages));
      const kept = now.slice(1);
      for (const [i, message] of kept.entries()) expect(message).toBe(messages[messages.length - kept.length + i]);
      // The same room again: a summary is less than half of what it stands for, and nothing under 400 tokens is summed up.
      const most = Math.log2(tokensOf(messages) / 400);
      let [steps, current] = [0, after];
      for (let next = planOf(current, room); next; next = planOf(current, room)) {
        const smaller = compacted(current, next);
        expect(tokensOf(messagesIn(smaller))).toBeLessThan(tokensOf(messagesIn(current)));
        current = smaller;
        expect(++steps).toBeLessThanOrEqual(most);
      }
    }),
    { numRuns: 300 },
  );
});

test('SPEC 7.7: no cut lies between a call and its result, and turns that fit stay whole', () => {
  fc.assert(
    fc.property(histories, fc.nat(5_000), (messages, keep) => {
      const cut = cutAt(messages, keep, 2 * keep);
      if (cut === undefined) return;
      expect(cut).toBeGreaterThan(0);
      expect(messages[cut]?.role).not.toBe('toolResult');
      const whole = messages.findIndex((_, i) => i > 0 && beginsTurn(messages, i) && tokensOf(messages.slice(i)) <= keep);
      if (whole >= 0) expect(cut).toBe(whole);
    }),
    { numRuns: 300 },
  );
});

test('what the user asked for in the turn under way stays in his words, through several compactions', () => {
  const rounds = (n: number) =>
    Array.from({ length: n }, (_, i) => [
      assistant([{ type: 'toolCall', id: `c${i}`, name: 'read', arguments: {} }]),
      result(`c${i}`, 'x'.repeat(3_000)),
    ]).flat();
  const messages = [user('find the needle named Ferdinand'), ...rounds(12)];
  const room = roomIn(messages);
  const plan = room && planOf(shownOf(messages), room);
  if (!plan) throw new Error('no plan');
  const first = compacted(shownOf(messages), plan);
  const grown = [...first, ...shownOf(rounds(12))];
  const again = room && planOf(grown, room);
  if (!again) throw new Error('no second plan');
  const [summary] = messagesIn(compacted(grown, again));
  expect(JSON.stringify(summary).match(/find the needle named Ferdinand/g)).toHaveLength(1);
});

test('SPEC 7.7: a turn that was stopped is one of its own: a cut may lie behind it, and what it was asked is not under way', () => {
  const stopped = [user('old'), assistant([{ type: 'toolCall', id: 'c', name: 'read', arguments: {} }]), result('c', 'x'.repeat(4_000))];
  const rounds = [assistant([{ type: 'toolCall', id: 'd', name: 'read', arguments: {} }]), result('d', 'y'.repeat(400))];
  const steer = joining({ role: 'user', content: 'rather so', timestamp: 1 });
  const messages = [...stopped, user('new'), ...rounds, steer, ...rounds];
  expect(cutAt(messages, 1_000, 2_000)).toBe(3);
  expect(underWay(messages, 3)).toEqual([]);
  expect(underWay(messages, 7)).toEqual([user('new'), steer]);
  expect(underWay(messages, 6)).toEqual([user('new')]);
});

test.each([
  [128_000, 16_384, 111_616],
  [20_000, 16_384, 10_000],
  [128_000, 0, 128_000],
  [0, 16_384, Infinity],
])('a window of %d with %d reserved holds %d', (window, reserve, due) => expect(limitOf(window, { reserve })).toBe(due));

test('a prompt that fills the window leaves no room on budget, and what was refused shrinks all the same', () => {
  const load = { window: 16_000, fixed: 9_000, conversation: 5_000 };
  expect(roomFor('budget', load, settings)).toBeUndefined();
  expect(roomFor('overflow', load, settings)?.all).toBe(3_000);
});

test('a text is shortened to so much, for good, and never within a letter', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 3_000 }), fc.integer({ min: 60, max: 2_000 }), (text, most) => {
      const short = shortText(text, most);
      expect(short.length).toBeLessThanOrEqual(Math.max(most, 0));
      expect(shortText(short, most)).toBe(short);
      expect(short.isWellFormed()).toBe(true);
      expect(Buffer.byteLength(inBytes(text, most))).toBeLessThanOrEqual(most);
    }),
  );
});

test('old results are shortened for a request, the others keep their identity', () => {
  const messages = [
    user('a'),
    assistant([{ type: 'toolCall', id: 'c', name: 'read', arguments: {} }]),
    result('c', 'y'.repeat(9_000)),
    said('b'),
  ];
  const short = shortResults(messages, 3, 2_000);
  expect([short[0], short[1], short[3]].every((message, i) => message === messages[i === 2 ? 3 : i])).toBe(true);
  expect(JSON.stringify(short[2]).length).toBeLessThan(2_300);
  expect(shortResults(messages, 2, 2_000)[2]).toBe(messages[2]);
  expect(shortResults(short, 3, 2_000)[2]).toBe(short[2]);
});

import { expect, test, vi } from 'vitest';
import type { Claim, InboxItem } from '../../../plugins/inbox/contract.ts';
import { openLanes, type QueueBounds } from '../../../plugins/inbox/lanes.ts';

const item = (itemId: string, sessionKey = 's', subject: InboxItem['subject'] = {}) =>
  ({ itemId, sessionKey, subject, provenance: { kind: 'external_user' }, enqueuedAt: 0 }) as InboxItem;

const usual = { cap: 20, drop: 'new', debounceMs: 0 } as const;

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
  const opened = openLanes({ take, report: (error) => errors.push(error), limits: { main: 4, subagent: 8, cron: 2 }, left });
  const lanes = { ...opened, enqueue: (one: InboxItem) => opened.enqueue(one, usual) };
  return { lanes, running, begun, errors, settle: () => new Promise(setImmediate) };
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
  lanes.begin(() => false, usual);
  lanes.begin(() => false, usual);
  expect(begun).toEqual(['old']);
});

/** Lanes of these limits, with turns that a test ends, and what they hold. */
function lanesOf(limits: Record<string, number>, { cap = 20, drop = 'new', debounceMs = 0 }: Partial<QueueBounds> = {}) {
  const turns = new Map<string, { readonly claim: Claim; readonly signal: AbortSignal; end(): void }>();
  const begun: string[] = [];
  const take = (one: InboxItem, signal: AbortSignal, claim: Claim) =>
    new Promise<void>((end) => {
      begun.push(one.itemId);
      turns.set(one.itemId, { claim, signal, end });
    });
  const lanes = openLanes({ take, report: () => {}, limits, left: [] });
  const say = (itemId: string, sessionKey = 's', facts: Partial<InboxItem> = {}) =>
    lanes.enqueue({ ...item(itemId, sessionKey), ...facts }, { cap, drop, debounceMs });
  const settle = () => new Promise(setImmediate);
  const end = (itemId: string) => {
    turns.get(itemId)?.end();
    return settle();
  };
  const ids = (items: readonly InboxItem[] | undefined) => items?.map(({ itemId }) => itemId);
  return { lanes, say, end, begun, turns, ids, settle };
}

const subagent = { subject: { session: 'subagent' } } as const;

test('SPEC 6.3: lanes have limits of their own, and a raised one counts at once', async () => {
  const { lanes, say, begun, end } = lanesOf({ main: 2, subagent: 1 });
  for (const key of ['a', 'b', 'c', 'd']) say(key, key);
  for (const key of ['x', 'y']) say(key, key, subagent);
  expect(begun).toEqual(['a', 'b', 'x']);
  await end('a');
  expect(begun).toEqual(['a', 'b', 'x', 'c']);
  lanes.limit({ main: 3, subagent: 2 });
  expect(begun).toEqual(['a', 'b', 'x', 'c', 'd', 'y']);
});

test('a place goes round by session: one that has much to say starves nobody', async () => {
  const { say, begun, end } = lanesOf({ main: 1 });
  for (const id of ['a1', 'a2', 'a3']) say(id, 'a');
  for (const id of ['b1', 'b2']) say(id, 'b');
  say('c1', 'c');
  for (const id of ['a1', 'b1', 'c1', 'a2', 'b2']) await end(id);
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

test('a parent that waits for its child in the one place of their lane does not block it', async () => {
  const { lanes, say, begun, end, settle, turns } = lanesOf({ subagent: 1 });
  say('parent', 'p', subagent);
  say('child', 'c', subagent);
  say('later', 'l', subagent);
  const answer = Promise.withResolvers<string>();
  const waiting = lanes.aside('parent', () => answer.promise);
  expect(begun).toEqual(['parent', 'child']);
  answer.resolve('done');
  let isBack = false;
  void waiting.then(() => (isBack = true));
  await settle();
  expect(isBack).toBe(false); // the place is the child's until it ends
  await end('child');
  expect([isBack, begun]).toEqual([true, ['parent', 'child']]); // who returns goes before who begins
  await end('parent');
  expect([begun.at(-1), lanes.used('subagent')]).toEqual(['later', 1]);
  turns.get('later')?.end();
  await settle();
  expect(lanes.used('subagent')).toBe(0);
});

test('a turn that is ended while it stands aside does not wait for its place', async () => {
  const { lanes, say, end, settle } = lanesOf({ main: 1 });
  say('a', 'a');
  const answer = Promise.withResolvers<void>();
  const aside = lanes.aside('a', () => answer.promise);
  say('b', 'b');
  answer.resolve();
  await settle();
  lanes.abort('a', 'stop');
  await aside;
  await end('a');
  await end('b');
  expect(lanes.used('main')).toBe(0);
});

test('over the cap the new message is handed back, or the oldest', async () => {
  const full = lanesOf({ main: 1 }, { cap: 2 });
  expect(['1', '2', '3', '4'].map((id) => full.say(id)?.itemId)).toEqual([undefined, undefined, undefined, '4']);
  const old = lanesOf({ main: 1 }, { cap: 2, drop: 'old' });
  expect(['1', '2', '3', '4'].map((id) => old.say(id)?.itemId)).toEqual([undefined, undefined, undefined, '2']);
  await old.end('1');
  expect(old.begun).toEqual(['1', '3']);
});

test('U131: with summarize the oldest over the cap are shortened and answered with the one that follows; past that they are refused', async () => {
  const { say, end, turns, begun, ids } = lanesOf({ main: 1 }, { cap: 2, drop: 'summarize' });
  expect(['1', '2', '3', '4', '5'].map((id) => say(id)?.itemId)).toEqual(Array.from({ length: 5 }, () => undefined));
  expect(['6', '7'].map((id) => say(id)?.itemId)).toEqual(['2', '3']);
  await end('1');
  const turn = turns.get('4');
  expect(ids(turn?.claim.join('start'))).toEqual(['5', '6']);
  expect(turn?.claim.items.map(({ isShortened }) => isShortened)).toEqual([true, true, undefined]);
  await end('4');
  expect(begun).toEqual(['1', '4', '7']);
});

test('a message that none may answer for is refused as with "old"; what follows a shortened one and may not join it waits', async () => {
  const full = lanesOf({ main: 1 }, { cap: 2, drop: 'summarize' });
  for (const [id, route] of [
    ['1', 'x'],
    ['2', 'y'],
    ['3', 'x'],
    ['4', 'x'],
  ] as const)
    full.say(id, 's', { route });
  expect(full.say('5', 's', { route: 'x' })?.itemId).toBeUndefined(); // 3 and 4 are for the same place
  await full.end('1');
  expect(full.ids(full.turns.get('2')?.claim.join('start'))).toEqual([]);
  const alone = lanesOf({ main: 1 }, { cap: 1, drop: 'summarize' });
  for (const [id, route] of [
    ['1', 'x'],
    ['2', 'y'],
  ] as const)
    alone.say(id, 's', { route });
  expect(alone.say('3', 's', { route: 'z' })?.itemId).toBe('2');
});

test('where two take turns nothing can be shortened: what no later one is answered with is refused, and stays whole', async () => {
  const { say, end, turns } = lanesOf({ main: 1 }, { cap: 2, drop: 'summarize' });
  const refused = ['x', 'y', 'x', 'y', 'x'].map((route, i) => say(`${i + 1}`, 's', { route })?.itemId);
  expect(refused).toEqual([undefined, undefined, undefined, '2', '3']);
  await end('1');
  expect(turns.get('4')?.claim.items.map(({ isShortened }) => isShortened)).toEqual([undefined]);
});

test('the first whole one is refused, not one that was shortened for it', () => {
  const { say } = lanesOf({ main: 1 }, { cap: 2, drop: 'summarize' });
  for (const id of ['1', '2', '3']) say(id, 's', { route: 'x' });
  expect(say('4', 's', { route: 'x' })).toBeUndefined(); // 2 is shortened
  expect(say('5', 's', { route: 'y' })?.itemId).toBeUndefined(); // 3 is shortened: 4 is answered with both
  expect(say('6', 's', { route: 'z' })?.itemId).toBe('4');
});

test('a shortened one whose whole one is gone is answered whole', async () => {
  const { say, end, turns, lanes } = lanesOf({ main: 1 }, { cap: 1, drop: 'summarize' });
  for (const id of ['1', '2', '3']) say(id);
  expect(lanes.cancel('3', 'not wanted any more')).toBe('waiting');
  await end('1');
  expect(turns.get('2')?.claim.items).toMatchObject([{ isShortened: false }]);
});

test('after a restart the oldest are shortened again, but for the first, which may have begun', async () => {
  const left = ['1', '2', '3', '4'].map((id) => ({ ...item(id), agentId: 'm', route: 'x' }));
  const turns: string[] = [];
  const take = async (_: InboxItem, _signal: AbortSignal, claim: Claim) => {
    claim.join('start');
    turns.push(claim.items.map(({ itemId, isShortened }) => (isShortened ? `${itemId} shortened` : itemId)).join(', '));
  };
  openLanes({ take, report: () => {}, limits: { main: 1 }, left }).begin(() => false, { cap: 2, drop: 'summarize' });
  await expect.poll(() => turns, { interval: 2 }).toEqual(['1', '2 shortened, 3 shortened, 4']);
});

test('what is collected joins the turn that begins; what steers joins between rounds; the rest keeps its turn', async () => {
  const { say, begun, end, turns, ids } = lanesOf({ main: 1 });
  say('1');
  for (const id of ['2', '3']) say(id, 's', { mode: 'collect' });
  say('4');
  say('5', 's', { mode: 'steer' });
  expect(ids(turns.get('1')?.claim.join('round'))).toEqual([]); // 2 goes first
  await end('1');
  expect(ids(turns.get('2')?.claim.join('start'))).toEqual(['3']);
  await end('2');
  expect(begun).toEqual(['1', '2', '4']);
  expect(ids(turns.get('4')?.claim.join('round'))).toEqual(['5']);
  expect(ids(turns.get('4')?.claim.items)).toEqual(['4', '5']);
});

test.each<[string, Partial<InboxItem>]>([
  ['another agent', { agentId: 'other' }],
  ['another place to answer', { route: 'test:y' }],
  ['another sender class', { subject: { sender: 'unknown' } }],
  ['another channel', { subject: { channel: 'x' } }],
  ['another depth', { subject: { depth: 1 } }],
  ['another model', { model: 'a/b' }],
  ['another origin', { provenance: { kind: 'inter_session' } }],
  ['a history of its own', { history: [] }],
])('a message of %s does not join a turn', (_, facts) => {
  const { say, turns, ids } = lanesOf({ main: 1 });
  say('1', 's', { mode: 'steer' });
  say('2', 's', { mode: 'steer', ...facts });
  expect(ids(turns.get('1')?.claim.join('round'))).toEqual([]);
});

test.each<[string, 'owner' | 'known' | 'unknown', 'owner' | 'known' | 'unknown', boolean]>([
  ['the owner ends anything', 'unknown', 'owner', true],
  ['one ends what one like him began', 'known', 'known', true],
  ['a stranger ends nothing of the owner', 'owner', 'unknown', false],
])('interrupt: %s', async (_, first, second, isEnded) => {
  const { say, turns, begun, end } = lanesOf({ main: 1 });
  say('1', 's', { subject: { sender: first } });
  say('2', 's', { subject: { sender: second }, mode: 'interrupt' });
  expect(turns.get('1')?.signal.aborted).toBe(isEnded);
  await end('1');
  expect(begun).toEqual(['1', '2']);
});

test('what is collected waits until nothing more comes; a full queue waits for nothing', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  try {
    const { say, begun, end } = lanesOf({ main: 1 }, { cap: 3, debounceMs: 500 });
    say('1', 's', { mode: 'collect' });
    expect(begun).toEqual(['1']); // nothing to wait for
    say('2', 's', { mode: 'collect' });
    await end('1');
    vi.advanceTimersByTime(400);
    say('3', 's', { mode: 'collect' });
    vi.advanceTimersByTime(400);
    expect(begun).toEqual(['1']);
    vi.setSystemTime(Date.now() - 3_600_000); // a clock that is set back holds up nothing
    vi.advanceTimersByTime(100);
    expect(begun).toEqual(['1', '2']);
    for (const id of ['4', '5', '6']) say(id, 's', { mode: 'collect' });
    await end('2');
    expect(begun).toEqual(['1', '2', '3']);
  } finally {
    vi.useRealTimers();
  }
});

test('a sweep ends the turn, hands over what waits, and holds what comes after until it is done', async () => {
  const { lanes, say, turns, begun, end, ids } = lanesOf({ main: 1 });
  for (const id of ['1', '2', '3']) say(id);
  const swept = lanes.sweep('s');
  expect([swept.isRunning, ids(swept.waiting), turns.get('1')?.signal.aborted]).toEqual([true, ['2', '3'], true]);
  say('4');
  await end('1');
  await swept.ended;
  expect(begun).toEqual(['1']);
  swept.release();
  expect(begun).toEqual(['1', '4']);
});

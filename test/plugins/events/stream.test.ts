import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { LiveEvent } from '../../../plugins/events/contract.ts';
import { openStream } from '../../../plugins/events/stream.ts';

const limits = { events: 100, bytes: 64 * 1024 };
const open = (sizes = limits) =>
  openStream(sizes, (error) => {
    throw error;
  });

const delta = (text: string, over: Record<string, unknown> = {}, sessionKey = 's') => ({
  type: 'message_update',
  sessionKey,
  data: { messageId: 'm1', kind: 'text', index: 0, delta: text, ...over },
});
const plain = (type: string, data = {}, sessionKey = 's') => ({ type, sessionKey, data });

/** Everything a watcher is given, as short text. */
const short = ({ type, data }: LiveEvent) =>
  type === 'message_update' ? `${String(data.messageId)}.${String(data.index)}:${String(data.delta)}` : type;

test('a watcher is given later events only; one with a cursor first gets what was kept since', () => {
  const stream = open();
  stream.publish(plain('agent_start'));
  const seen: LiveEvent[] = [];
  stream.watch({}, (event) => void seen.push(event));
  stream.publish(plain('message_start'));
  stream.publish(plain('message_end'));
  expect(seen.map(short)).toEqual(['message_start', 'message_end']);
  const again: LiveEvent[] = [];
  const { missed, cursor } = stream.watch({ after: seen[0]?.cursor }, (event) => void again.push(event));
  expect(again.map(short)).toEqual(['message_end']);
  expect({ missed, cursor }).toEqual({ missed: false, cursor: seen[1]?.cursor });
});

test('deltas of a long message are one event in a replay, cut where the cursor stands', () => {
  const stream = open();
  const seen: LiveEvent[] = [];
  stream.publish(plain('message_start'));
  stream.watch({}, (event) => void seen.push(event)).stop();
  const start = stream.settled('s');
  for (let i = 0; i < 300; i++) stream.publish(delta(`${i} `));
  const whole: LiveEvent[] = [];
  stream.watch({ after: start }, (event) => void whole.push(event));
  const text = Array.from({ length: 300 }, (_, i) => `${i} `).join('');
  expect(whole.map(short)).toEqual(['message_start', `m1.0:${text}`]);

  const [boot, n] = whole[1]!.cursor.split('.') as [string, string];
  const rest: LiveEvent[] = [];
  const { missed } = stream.watch({ after: `${boot}.${Number(n) - 2}` }, (event) => void rest.push(event));
  expect(rest.map(short)).toEqual(['m1.0:298 299 ']);
  expect(missed).toBe(false);
});

test('a replay keeps the order of parts and sessions that were written in turns', () => {
  const stream = open();
  const from = stream.settled('s');
  stream.publish(delta('a'));
  stream.publish(delta('b', { index: 1 }));
  stream.publish(delta('c'));
  stream.publish(delta('x', { messageId: 'm2' }, 'other'));
  stream.publish(delta('d'));
  const seen: string[] = [];
  stream.watch({ after: from, sessionKey: 's' }, (event) => void seen.push(short(event)));
  expect(seen).toEqual(['m1.0:a', 'm1.1:b', 'm1.0:cd']);
});

test('after any event of a replay, its cursor is exact: what was seen and what follows make the whole', () => {
  const stream = open();
  const from = stream.settled('s');
  const kinds = [{}, { index: 1 }, { messageId: 'm2' }];
  for (let i = 0; i < 60; i++) stream.publish(delta(`${i},`, kinds[(i * i) % 3]));
  const read = (after: string) => {
    const events: LiveEvent[] = [];
    stream.watch({ after }, (event) => void events.push(event)).stop();
    return events;
  };
  const textOf = (events: readonly LiveEvent[], messageId: string) =>
    events
      .filter((event) => event.data.messageId === messageId)
      .map((event) => event.data.delta)
      .join('');
  const whole = read(from);
  for (let cut = 0; cut < whole.length; cut++) {
    const both = [...whole.slice(0, cut + 1), ...read(whole[cut]!.cursor)];
    for (const id of ['m1', 'm2']) expect(textOf(both, id)).toBe(textOf(whole, id));
  }
});

test('SPEC U245: 5,000 updates of a tool reach a watcher as a few, the last among them, and are one in the ring', async () => {
  const stream = open();
  const from = stream.settled('s');
  const seen: LiveEvent[] = [];
  const watch = stream.watch({ sessionKey: 's' }, (event) => void seen.push(event));
  let read = 0;
  for (let i = 0; i < 5_000; i++) {
    const content = [{ type: 'text', text: `line ${i}\n`.repeat(50) }];
    const partial = Object.defineProperty({}, 'content', { enumerable: true, get: () => (read++, content) });
    stream.publish(plain('tool_execution_update', { callId: 'c1', partial }));
    if (i % 500 === 0) await turnOfLoop();
  }
  stream.publish(plain('tool_execution_end', { callId: 'c1' }));
  expect(seen.length).toBeLessThan(50);
  expect(read).toBeLessThanOrEqual(5_000); // each is weighed once: what nobody is given is neither copied nor turned into JSON
  expect(JSON.stringify(seen.at(-2)?.data)).toContain('line 4999');
  expect(seen.at(-1)?.type).toBe('tool_execution_end');
  watch.stop();
  const replayed: string[] = [];
  const { missed } = stream.watch({ after: from }, (event) => void replayed.push(short(event)));
  expect(replayed).toEqual(['tool_execution_update', 'tool_execution_end']);
  expect(missed).toBe(false);
});

test('a slow watcher gets joined deltas, the newest partial of a tool, and all else in order', async () => {
  const stream = open();
  const seen: string[] = [];
  const reading = Promise.withResolvers<void>();
  stream.watch({}, (event) => {
    seen.push(short(event));
    return seen.length === 1 ? reading.promise : undefined;
  });
  stream.publish(plain('message_start'));
  for (const text of ['a', 'b', 'c']) stream.publish(delta(text));
  stream.publish(plain('tool_execution_start'));
  stream.publish(plain('tool_execution_update', { callId: 'c1', partial: 1 }));
  stream.publish(delta('d'));
  stream.publish(plain('tool_execution_update', { callId: 'c1', partial: 2 }));
  expect(seen).toEqual(['message_start']);
  reading.resolve();
  await turnOfLoop();
  expect(seen).toEqual(['message_start', 'm1.0:abc', 'tool_execution_start', 'm1.0:d', 'tool_execution_update']);
});

test('one that stays behind too far is told that it missed some, and goes on from there', async () => {
  const stream = open({ events: 10, bytes: 1_000_000 });
  const seen: string[] = [];
  const reading = Promise.withResolvers<void>();
  stream.watch({}, (event) => {
    seen.push(short(event));
    return seen.length === 1 ? reading.promise : undefined;
  });
  for (let i = 0; i < 13; i++) stream.publish(plain(`e${i}`));
  reading.resolve();
  await turnOfLoop();
  expect(seen).toEqual(['e0', 'missed', 'e12']);
});

test('stopping delivers what is held back, and nothing after', () => {
  const stream = open();
  const seen: string[] = [];
  const watch = stream.watch({}, (event) => void seen.push(short(event)));
  for (const text of ['a', 'b', 'c']) stream.publish(delta(text));
  watch.stop();
  stream.publish(delta('d'));
  expect(seen.join(' ').replaceAll('m1.0:', '').replaceAll(' ', '')).toBe('abc');
});

test('the ring is bounded in count and in bytes; who asks from before is told', () => {
  const stream = open({ events: 50, bytes: 20_000 });
  const from = stream.settled('s');
  for (let i = 0; i < 60; i++) stream.publish(plain('e', { i }));
  const first: LiveEvent[] = [];
  expect(stream.watch({ after: from }, (event) => void first.push(event)).missed).toBe(true);
  expect(first[0]?.data).toEqual({ i: 10 });
  for (let i = 0; i < 60; i++) stream.publish(plain('big', { text: 'x'.repeat(1_000) }));
  const second: LiveEvent[] = [];
  stream.watch({ after: from }, (event) => void second.push(event));
  expect(second.length).toBeLessThan(20);
});

test('a growing message outlives the noise of other sessions, and its replay counts as whole', () => {
  const stream = open({ events: 50, bytes: 1_000_000 });
  stream.publish(plain('message_end'));
  const from = stream.settled('s');
  for (let i = 0; i < 200; i++) {
    stream.publish(plain('e', {}, `noise${i}`));
    stream.publish(delta('x'));
  }
  const seen: string[] = [];
  const { missed } = stream.watch({ sessionKey: 's', after: from }, (event) => void seen.push(short(event)));
  expect({ missed, seen }).toEqual({ missed: false, seen: [`m1.0:${'x'.repeat(200)}`] });
  expect(stream.watch({ after: from }, () => {}).missed).toBe(false);
  const [boot, n] = from.split('.');
  expect(stream.watch({ after: `${boot}.${n}` }, () => {}).missed).toBe(true);
});

test('a cursor of another process, or nonsense, counts as missed and replays nothing', () => {
  const stream = open();
  stream.publish(plain('e'));
  for (const after of ['0123456789.1', 'nonsense', '', '.', `${stream.settled('s').split('.')[0]}.x`]) {
    const seen: LiveEvent[] = [];
    expect(stream.watch({ after }, (event) => void seen.push(event)).missed).toBe(true);
    expect(seen).toEqual([]);
  }
});

test('a watcher of a session gets its events and those of no session', () => {
  const stream = open();
  const seen: string[] = [];
  stream.watch({ sessionKey: 's' }, (event) => void seen.push(event.type));
  stream.publish(plain('mine'));
  stream.publish(plain('other', {}, 'other'));
  stream.publish({ type: 'generation_swapped', data: {} });
  expect(seen).toEqual(['mine', 'generation_swapped']);
});

test('a watcher that throws is dropped and reported; the publisher and the others do not notice', () => {
  const errors: unknown[] = [];
  const stream = openStream(limits, (error) => void errors.push(error));
  const seen: string[] = [];
  stream.watch({}, () => {
    throw new Error('broken');
  });
  stream.watch({}, (event) => void seen.push(event.type));
  stream.publish(plain('a'));
  stream.publish(plain('b'));
  expect(seen).toEqual(['a', 'b']);
  expect(errors).toHaveLength(1);
});

test('what settles a session is its last completed message or turn', () => {
  const stream = open();
  const after = (key: string) => {
    const seen: string[] = [];
    stream.watch({ sessionKey: key, after: stream.settled(key) }, (event) => void seen.push(short(event))).stop();
    return seen;
  };
  expect(after('s')).toEqual([]);
  stream.publish(plain('agent_start'));
  stream.publish(plain('message_end'));
  stream.publish(plain('message_start'));
  stream.publish(delta('so '));
  stream.publish(delta('far'));
  expect(after('s')).toEqual(['message_start', 'm1.0:so far']);
  stream.publish(plain('message_end'));
  expect(after('s')).toEqual([]);
});

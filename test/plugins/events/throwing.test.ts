import { expect, test } from 'vitest';
import { openStream } from '../../../plugins/events/stream.ts';

const limits = { events: 100, bytes: 100_000 };

test.each([
  ['throws', (fails: boolean) => (fails ? JSON.stringify(1n) : undefined)],
  ['rejects', async (fails: boolean) => (fails ? JSON.stringify(1n) : undefined)],
])('a watcher that %s at one event is told that it missed one, and gets those that follow in their order', async (_, take) => {
  const errors: unknown[] = [];
  const stream = openStream(limits, (error) => void errors.push(error));
  const seen: [string, string][] = [];
  stream.watch({}, (event) => {
    const taken = take(event.type === 'odd') as Promise<void> | undefined;
    const note = () => void seen.push([event.type, event.cursor.split('.')[1] as string]);
    if (taken instanceof Promise) return taken.then(note);
    return note();
  });
  for (const type of ['a', 'odd', 'b', 'c']) stream.publish({ type, sessionKey: 's', data: {} });
  await expect.poll(() => seen, { interval: 5 }).toHaveLength(4);
  expect(seen).toEqual([
    ['a', '1'],
    ['missed', '2'],
    ['b', '3'],
    ['c', '4'],
  ]);
  expect(errors).toHaveLength(1);
});

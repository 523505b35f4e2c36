import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openReloader } from '../../../plugins/watch/reloader.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A reloader whose attempts end when told to. */
function stage() {
  const attempts: { readonly files: readonly string[]; readonly end: () => void; readonly fail: (error: Error) => void }[] = [];
  const rejected: unknown[] = [];
  const reloader = openReloader({
    reload: (files) => new Promise((resolve, reject) => attempts.push({ files, end: () => resolve(undefined), fail: reject })),
    rejected: (error) => rejected.push(error),
  });
  const begun = async (count: number) => {
    await vi.advanceTimersByTimeAsync(10);
    expect(attempts).toHaveLength(count);
  };
  return { reloader, attempts, rejected, begun };
}

test('files saved together are one attempt', async () => {
  const { reloader, attempts, begun } = stage();
  for (const file of ['a', 'b', 'a']) reloader.changed(file);
  await begun(1);
  expect(attempts[0]?.files).toEqual(['a', 'b']);
});

test('what changes during an attempt makes the next one, once', async () => {
  const { reloader, attempts, begun } = stage();
  reloader.changed('a');
  await begun(1);
  reloader.changed('b');
  reloader.changed('c');
  attempts[0]?.end();
  await begun(2);
  expect(attempts[1]?.files).toEqual(['b', 'c']);
});

test('the files of a failed attempt belong to the next one: they are not live yet', async () => {
  const { reloader, attempts, begun } = stage();
  reloader.changed('a');
  await begun(1);
  attempts[0]?.fail(new Error('half saved'));
  await vi.advanceTimersByTimeAsync(0);
  reloader.changed('b');
  await begun(2);
  expect(attempts[1]?.files).toEqual(['a', 'b']);
});

test('U003: a failure is reported once no further change came for a while, and not where one did, however often', async () => {
  const { reloader, attempts, begun, rejected } = stage();
  for (const [i, what] of ['a third', 'two thirds', 'really broken'].entries()) {
    reloader.changed('a');
    await begun(i + 1);
    attempts[i]?.fail(new Error(what));
    await vi.advanceTimersByTimeAsync(289);
    expect(rejected).toEqual([]);
  }
  await vi.advanceTimersByTimeAsync(11);
  expect(rejected).toMatchObject([{ message: 'really broken' }]);
});

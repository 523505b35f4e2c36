import { expect, test } from 'vitest';
import { openReloader } from '../../../plugins/watch/reloader.ts';

/** A reloader whose attempts end when told to. */
function stage(graceMs = 20) {
  const attempts: { readonly files: readonly string[]; readonly end: () => void; readonly fail: (error: Error) => void }[] = [];
  const rejected: unknown[] = [];
  const reloader = openReloader({
    reload: (files) => new Promise((resolve, reject) => attempts.push({ files, end: () => resolve(undefined), fail: reject })),
    rejected: (error) => rejected.push(error),
    gatherMs: 1,
    graceMs,
  });
  const begun = (count: number) => expect.poll(() => attempts.length, { interval: 1 }).toBe(count);
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
  await new Promise(setImmediate);
  reloader.changed('b');
  await begun(2);
  expect(attempts[1]?.files).toEqual(['a', 'b']);
});

test('a failure is reported once no further change came, and not where one did', async () => {
  const { reloader, attempts, begun, rejected } = stage();
  reloader.changed('a');
  await begun(1);
  attempts[0]?.fail(new Error('half saved'));
  await new Promise(setImmediate);
  reloader.changed('a');
  await begun(2);
  attempts[1]?.fail(new Error('really broken'));
  await expect.poll(() => rejected, { interval: 1 }).toMatchObject([{ message: 'really broken' }]);
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openWorkTime } from '../../../plugins/turns/work-time.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** Something that is waited for, until it is over. */
function waiting(time: ReturnType<typeof openWorkTime>) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = time.waits(() => promise);
  return { over: () => (resolve(), done) };
}

test('a deadline is met after so much work, not sooner and once', () => {
  const late = vi.fn<() => void>();
  openWorkTime().after(1000, late);
  vi.advanceTimersByTime(999);
  expect(late).not.toHaveBeenCalled();
  vi.advanceTimersByTime(5000);
  expect(late).toHaveBeenCalledTimes(1);
});

test('what is called off is met never', () => {
  const late = vi.fn<() => void>();
  openWorkTime().after(1000, late)();
  vi.advanceTimersByTime(5000);
  expect(late).not.toHaveBeenCalled();
});

test('the time of a wait is not counted, however often it is waited; waits that overlap are one', async () => {
  const time = openWorkTime();
  const late = vi.fn<() => void>();
  time.after(1000, late);
  vi.advanceTimersByTime(600);
  const [one, two] = [waiting(time), waiting(time)];
  vi.advanceTimersByTime(60_000);
  await one.over();
  vi.advanceTimersByTime(60_000);
  await two.over();
  vi.advanceTimersByTime(399);
  expect(late).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(late).toHaveBeenCalledTimes(1);
});

test('a wait that fails ends as well, and its error is the one that waits', async () => {
  const time = openWorkTime();
  const late = vi.fn<() => void>();
  time.after(10, late);
  await expect(time.waits(() => Promise.reject(new Error('nobody there')))).rejects.toThrow('nobody there');
  vi.advanceTimersByTime(10);
  expect(late).toHaveBeenCalledTimes(1);
});

test('what one part waits for counts neither in it nor in the whole, and in the other part it does', async () => {
  const turn = openWorkTime();
  const [asking, busy] = [turn.part(), turn.part()];
  const late: string[] = [];
  turn.after(1000, () => late.push('turn'));
  asking.after(1000, () => late.push('asking'));
  busy.after(1000, () => late.push('busy'));
  const wait = waiting(asking);
  vi.advanceTimersByTime(2000);
  expect(late).toEqual(['busy']);
  await wait.over();
  vi.advanceTimersByTime(1000);
  expect(late).toEqual(['busy', 'turn', 'asking']);
});

test('a deadline that is set during a wait begins after it; one beyond what a timer can be set for is never met', async () => {
  const time = openWorkTime();
  const [late, never] = [vi.fn<() => void>(), vi.fn<() => void>()];
  const wait = waiting(time);
  time.after(100, late);
  time.after(2 ** 40, never);
  vi.advanceTimersByTime(5000);
  expect(late).not.toHaveBeenCalled();
  await wait.over();
  vi.advanceTimersByTime(100);
  expect(late).toHaveBeenCalledTimes(1);
  expect(never).not.toHaveBeenCalled();
});

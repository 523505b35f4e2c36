import { expect, test, vi } from 'vitest';
import { Methods } from '../../../plugins/gateway/contract.ts';
import type { VitalsReading } from '../../../plugins/vitals/contract.ts';
import vitals from '../../../plugins/vitals/index.ts';
import { openWatch } from '../../../plugins/vitals/watch.ts';
import { vitalsLines } from '../../../plugins/cli/vitals-lines.ts';
import { bootTest } from '../../support/kernel.ts';

/** So long by the clock, with some work: a busy machine may let us have none of the processor for longer. */
const block = (ms: number) => {
  const [until, before] = [performance.now() + ms, process.threadCpuUsage().user];
  while (performance.now() < until || process.threadCpuUsage().user - before < 20_000);
};

/** A counter sees what comes after its first tick. */
const ticks = () => new Promise((resolve) => setTimeout(resolve, 50));

test('work that holds the event loop is told as its delay, since the start and in the windows that it falls into', async () => {
  await using watch = openWatch(100);
  watch.start();
  await ticks();
  block(300);
  const slow = () => watch.read().windows.filter(({ loop }) => loop.max > 200);
  await expect.poll(slow, { interval: 5, timeout: 10_000 }).not.toEqual([]);
  await expect.poll(() => watch.read().windows.at(-1)?.loop.max, { interval: 5, timeout: 10_000 }).toBeLessThan(200);
  expect(slow()[0]?.cpuMs).toBeGreaterThan(10); // no more where the machine is busy
  const { loop, memory: now } = watch.read();
  expect(loop.max).toBeGreaterThan(200);
  expect(now.rss).toBeGreaterThan(now.heapUsed);
});

test('nothing is measured before it is live or after it is gone, and once where it begins twice', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  try {
    const watch = openWatch(60_000);
    expect(watch.read()).toMatchObject({ loop: { max: 0 }, windows: [] });
    watch.start();
    watch.start();
    vi.advanceTimersByTime(61_000);
    const { windows } = watch.read();
    expect(windows).toHaveLength(1);
    await watch[Symbol.asyncDispose]();
    vi.advanceTimersByTime(200_000);
    expect(watch.read().windows).toEqual(windows);
  } finally {
    vi.useRealTimers();
  }
});

test('a reload neither forgets what was measured nor begins anew', async () => {
  await using kernel = await bootTest([vitals]);
  await ticks();
  const read = () =>
    kernel.kernel.run(async (run) => (await run.call(Methods, {}))['vitals.read']?.({}, undefined as never, run) as VitalsReading);
  block(60);
  await expect.poll(async () => (await read()).loop.max, { interval: 5 }).toBeGreaterThan(30);
  const before = await read();
  await kernel.reload('vitals');
  expect((await read()).loop.max).toBeGreaterThanOrEqual(before.loop.max);
});

const memory = { rss: 200 * 1024 ** 2, heapTotal: 1, heapUsed: 60 * 1024 ** 2, external: 1 };
const window = (p99: number, waitedMs?: number) => ({
  at: 1,
  ms: 10_000,
  cpuMs: 2_500,
  memory,
  loop: { p50: 0.4, p99, max: 2 * p99 },
  ...(waitedMs !== undefined && { waitedMs }),
});

test.each<[string, Pick<VitalsReading, 'windows'>, string[]]>([
  [
    'before the first window',
    { windows: [] },
    ['200 MB, 60 MB of it heap', '1 ms late at the median, 2 ms at p99, 3 ms at most (since the start)'],
  ],
  [
    'of the last minute the worst counts',
    { windows: [window(400), ...Array.from({ length: 5 }, () => window(3)), window(7)] },
    ['200 MB, 60 MB of it heap', '0.4 ms late at the median, 7 ms at p99, 14 ms at most (worst 10 s of the last minute)', '25 % of a core'],
  ],
  [
    'where other processes have the processor',
    { windows: [window(90, 4_000)] },
    [
      '200 MB, 60 MB of it heap',
      '0.4 ms late at the median, 90 ms at p99, 180 ms at most (worst 10 s of the last minute)',
      '25 % of a core; other processes kept it waiting for 40 % of the time',
    ],
  ],
])('status tells how large and how busy the gateway is: %s', (_, given, expected) => {
  const lines = vitalsLines({ memory, loop: { p50: 1, p99: 2, max: 3 }, ...given });
  expect(lines.map(({ value }) => value)).toEqual(expected);
});

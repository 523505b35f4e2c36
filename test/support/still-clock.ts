import { afterEach, beforeEach, vi } from 'vitest';

/**
 * Timers of each test of the file are due only as the test says that time passes: a deadline then comes when what it is for
 * has begun, however busy the machine. Sockets, files and processes go on as ever.
 */
export function stillClock() {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] }));
  afterEach(() => void vi.useRealTimers());
  return { passes: async (seconds: number) => void (await vi.advanceTimersByTimeAsync(seconds * 1000)) };
}

import type { WorkTime } from './contract.ts';

interface Deadline {
  leftMs: number;
  since: number;
  timer?: NodeJS.Timeout | undefined;
  readonly late: () => void;
}

/** Longer than any timer of Node's can be set for is for ever. */
const longestMs = 2 ** 31 - 1;

/** The time of one turn, or of a part of it. Waits may overlap: it goes on when the last of them has its end. */
export function openWorkTime(whole?: WorkTime, now = () => performance.now()): WorkTime {
  const deadlines = new Set<Deadline>();
  let waits = 0;

  function go(deadline: Deadline) {
    deadline.since = now();
    if (deadline.leftMs > longestMs) return;
    deadline.timer = setTimeout(() => {
      deadlines.delete(deadline);
      deadline.late();
    }, deadline.leftMs);
  }
  function halt(deadline: Deadline) {
    clearTimeout(deadline.timer);
    deadline.leftMs = Math.max(0, deadline.leftMs - (now() - deadline.since));
  }

  const time: WorkTime = {
    after(ms, late) {
      const deadline: Deadline = { leftMs: ms, since: now(), late };
      deadlines.add(deadline);
      if (waits === 0) go(deadline);
      return () => {
        clearTimeout(deadline.timer);
        deadlines.delete(deadline);
      };
    },
    part: () => openWorkTime(time, now),
    async waits(work) {
      if (waits++ === 0) for (const deadline of deadlines) halt(deadline);
      try {
        return await (whole ? whole.waits(work) : work());
      } finally {
        if (--waits === 0) for (const deadline of deadlines) go(deadline);
      }
    },
  };
  return time;
}

export interface ReloaderAround {
  readonly reload: (changed: readonly string[]) => Promise<unknown>;
  readonly rejected: (error: unknown) => void;
  /** Milliseconds: files saved together come within this. */
  readonly gatherMs?: number;
  /** Milliseconds without a further change before a failed attempt is reported: a file may be half saved. */
  readonly graceMs?: number;
}

/** Coalesces changes to the newest: one reload at a time, and what changes meanwhile makes the next one. */
export function openReloader({ reload, rejected, gatherMs = 10, graceMs = 300 }: ReloaderAround) {
  /** Changed since the last attempt that succeeded: a failed one's files belong to the next one too. */
  let waiting = new Set<string>();
  let fresh = false;
  let running = false;
  let stopped = false;
  let gathering: NodeJS.Timeout | undefined;
  let grace: NodeJS.Timeout | undefined;

  function changed(file: string) {
    waiting.add(file);
    fresh = true;
    clearTimeout(grace);
    soon();
  }

  function soon() {
    if (running || stopped || !fresh) return;
    clearTimeout(gathering);
    gathering = setTimeout(() => void attempt(), gatherMs);
  }

  async function attempt() {
    const files = waiting;
    waiting = new Set();
    fresh = false;
    running = true;
    try {
      await reload([...files]);
    } catch (error) {
      waiting = files.union(waiting);
      if (!fresh) grace = setTimeout(rejected, graceMs, error);
    } finally {
      running = false;
    }
    soon();
  }

  return {
    changed,
    async [Symbol.asyncDispose]() {
      stopped = true;
      clearTimeout(gathering);
      clearTimeout(grace);
    },
  };
}

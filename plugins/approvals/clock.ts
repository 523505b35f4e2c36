/** Time as the questions see it; tests bring their own. */
export interface Clock {
  now(): number;
  /** Calls back once after so many milliseconds unless the returned function is called first. */
  after(ms: number, work: () => void): () => void;
}

export const wallClock: Clock = {
  now: Date.now,
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};

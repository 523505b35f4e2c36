/** 1 s, doubling, at most a minute; up to a fifth less, so that many do not come at once. */
export const backoffMs = (attempt: number, random: () => number = Math.random): number =>
  Math.round(Math.min(60_000, 1000 * 2 ** Math.min(attempt - 1, 10)) * (1 - random() / 5));

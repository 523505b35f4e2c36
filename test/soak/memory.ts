import type { HeapSample } from './load.ts';

export interface MemoryTrend {
  /** What the heap holds for ever, per turn: the rise of what is left after collections. */
  readonly bytesPerTurn: number;
  /** By how much the resident memory grew, from the second quarter of the run to its end: 0.1 is a tenth. */
  readonly rssGrowth: number;
  readonly rss: number;
  /** What was left after the collections of the last part. */
  readonly heap: number;
}

/** The first quarter warms up: code is compiled, caches fill, V8 finds the sizes of its spaces. */
const warmUp = 0.25;
const parts = 12;

/**
 * The heap goes up and down between collections, so each twelfth of the run counts by its lowest sample. The rise is the
 * median of the slopes between all pairs of them (Theil and Sen): one late collection does not bend it.
 */
export function memoryTrend(samples: readonly HeapSample[]): MemoryTrend {
  const warm = samples.slice(Math.floor(samples.length * warmUp));
  const size = Math.max(1, Math.floor(warm.length / parts));
  const groups = Array.from({ length: parts }, (_, i) => warm.slice(i * size, (i + 1) * size)).filter((group) => group.length > 0);
  const floors = groups.map((group) => group.reduce((low, one) => (one.used < low.used ? one : low)));
  const slopes = floors.flatMap((a, i) => floors.slice(i + 1).map((b) => (b.used - a.used) / (b.turns - a.turns)));
  const [first, last] = [groups.slice(0, 4).flat(), groups.slice(-4).flat()].map((group) => median(group.map(({ rss }) => rss)));
  return {
    bytesPerTurn: median(slopes.filter(Number.isFinite)),
    rssGrowth: (last ?? 0) / (first ?? 1) - 1,
    rss: last ?? 0,
    heap: floors.at(-1)?.used ?? 0,
  };
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** What the mock model takes: until its first token, then for all of them together. */
export interface Pace {
  readonly firstMs: readonly [least: number, most: number];
  readonly streamMs: readonly [least: number, most: number];
  readonly tokens: number;
}

/** A model as one meets it: some 85 turns a second from 200 sessions that do not pause. */
export const realistic: Pace = { firstMs: [100, 500], streamMs: [1000, 3000], tokens: 20 };
/** No thinking, no pauses: as many turns as the cores give. */
export const atOnce: Pace = { firstMs: [0, 0], streamMs: [0, 0], tokens: 20 };

/** Milliseconds that the model takes: role, mark if there is one, tokens, finish, usage, [DONE], with a pause before each but the first. */
export const modelMs = (firstMs: number, everyMs: number, tokens: number, marks = 0) => firstMs + everyMs * (tokens + marks + 3);

/** The same numbers in every run. */
export function seeded(seed: number) {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

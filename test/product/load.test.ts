import { expect, test } from 'vitest';
import { load } from '../soak/load.ts';

test('200 sessions at once: every message answered exactly once, nothing left behind (npm run soak -- load: 20 minutes)', async () => {
  const { faults, turns } = await load({ sessions: 200, turnsEach: 3, pace: { firstMs: [20, 100], streamMs: [100, 400], tokens: 10 } });
  expect(faults).toEqual([]);
  expect(turns).toBe(600);
});

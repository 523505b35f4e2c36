import { expect, test } from 'vitest';
import { soak } from '../soak/reloads.ts';

test('SPEC 14.5: reloads, good and failing, under load: nothing lost, doubled or left behind (npm run soak: 1,000 of them)', async () => {
  const { faults, turns, rejected } = await soak(24, 8);
  expect(faults).toEqual([]);
  expect(turns).toBeGreaterThan(20);
  expect(rejected).toBeGreaterThan(3);
});

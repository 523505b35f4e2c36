import { test } from 'vitest';

/** Whether all is wanted (`npm run test:all`), or what `npm test` has time for: the first of a kind, a sample of a long series. */
export const isWhole = process.env['INSTAR_TEST_ALL'] === '1';

/** A test that says no more than others do, in a longer way: only where all is wanted. */
export const long = isWhole ? test : test.skip;

import { expect, test } from 'vitest';
import { billingMs, cooldownMs, restAfter, type Rest, restsFor } from '../../../plugins/auth-profiles/cooldown.ts';
import type { FailureReason } from '../../../plugins/models/contract.ts';

const hour = 3_600_000;
const failure = (reason: FailureReason, more: object = {}) => ({ code: 'MODEL_HTTP', message: 'x', reason, ...more });
const error = (reason: FailureReason, beganAt: number, more: object = {}) => ({
  profile: 'p',
  provider: 'a',
  model: '',
  beganAt,
  failure: failure(reason, more),
});
const restOf = (before: Rest | undefined, reason: FailureReason, now: number, more: object = {}, cooldowns = {}) =>
  restAfter(before, error(reason, now, more), cooldowns, now);

test('SPEC 7.1: the steps are exactly 30 s, 60 s, then 5 min', () => {
  expect([0, 1, 2, 3, 4, 50].map(cooldownMs)).toEqual([30_000, 30_000, 60_000, 300_000, 300_000, 300_000]);
});

test.for<readonly [object, string, readonly number[]]>([
  [{}, 'a', [5, 10, 20, 24, 24]],
  [{ billingBackoffHours: 1, billingMaxHours: 3 }, 'a', [1, 2, 3, 3, 3]],
  [{ billingBackoffHoursByProvider: { a: 2 } }, 'a', [2, 4, 8, 16, 24]],
  [{ billingBackoffHoursByProvider: { b: 2 } }, 'a', [5, 10, 20, 24, 24]],
])('SPEC 7.2: billing with %j for %s rests %j hours', ([cooldowns, provider, hours]) => {
  expect([1, 2, 3, 4, 5].map((errors) => billingMs(errors, cooldowns, provider) / hour)).toEqual(hours);
});

test('SPEC 7.1: errors add up over rests; billing has a count of its own', () => {
  const one = restOf(undefined, 'rate_limit', 1_000);
  const two = restOf(one, 'overloaded', one.until);
  const three = restOf(two, 'billing', two.until);
  const four = restOf(three, 'rate_limit', three.until);
  expect([one, two, three, four].map(({ until, failedAt }) => until - failedAt)).toEqual([30_000, 60_000, 5 * hour, 300_000]);
  expect(four).toMatchObject({ errors: 3, billing: 1, reason: 'rate_limit' });
});

test('errors are forgotten a day after the last rest ended', () => {
  const three = restOf(restOf(restOf(undefined, 'auth', 0), 'auth', 30_000), 'auth', 90_000);
  expect(restOf(three, 'auth', three.until + 24 * hour)).toMatchObject({ errors: 4 });
  expect(restOf(three, 'auth', three.until + 24 * hour + 1)).toMatchObject({ errors: 1 });
  expect(restOf(three, 'auth', three.until + 2 * hour, {}, { failureWindowHours: 1 })).toMatchObject({ errors: 1 });
});

test('a longer Retry-After counts, a shorter one shortens nothing, and none counts for more than a day', () => {
  const restMs = (retryAfterMs: number) => restOf(undefined, 'rate_limit', 0, { retryAfterMs }).until;
  expect([1_000, 30_000, 90_000, 1e15].map(restMs)).toEqual([30_000, 30_000, 90_000, 24 * hour]);
});

test('200 attempts that ran at once count an outage once', () => {
  const first = restAfter(undefined, error('rate_limit', 10), {}, 100);
  const late = restAfter(first, error('rate_limit', 20), {}, 150);
  expect(late).toEqual(first);
  expect(restAfter(first, error('rate_limit', 120), {}, 150)).toMatchObject({ errors: 2 }); // began after it: a probe
});

test.for<readonly [FailureReason | undefined, string, boolean]>([
  ['rate_limit', 'MODEL_HTTP', true],
  ['auth', 'MODEL_HTTP', true],
  ['billing', 'MODEL_HTTP', true],
  ['timeout', 'MODEL_TIMEOUT', true],
  ['overloaded', 'MODEL_HTTP', true],
  ['model_not_found', 'MODEL_HTTP', true],
  ['format', 'MODEL_HTTP', false],
  ['context_overflow', 'MODEL_HTTP', false],
  ['unknown', 'MODEL_HTTP', false],
  [undefined, 'MODEL_ABORTED', false],
  ['auth', 'MODEL_NO_KEY', false],
  ['model_not_found', 'ADAPTER_MISSING', false],
])('whether a profile rests after %s (%s): %s', ([reason, code, rests]) => {
  expect(restsFor({ code, message: 'x', ...(reason && { reason }) })).toBe(rests);
});

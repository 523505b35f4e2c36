import type { FailureReason, ModelFailure } from '../models/contract.ts';
import type { AuthConfig } from './schema.ts';

/** The rest of a profile after errors, with one model or (`model: ''`) with all of its provider. */
export interface Rest {
  readonly profile: string;
  readonly model: string;
  /** Errors but those of billing. */
  readonly errors: number;
  readonly billing: number;
  readonly reason: FailureReason;
  readonly failedAt: number;
  readonly until: number;
}

/** `auth.cooldowns`; what is not set is as the schema has it. */
export type Cooldowns = Partial<NonNullable<AuthConfig['cooldowns']>> | undefined;

const hour = 3_600_000;
/** No server makes us rest for longer. */
const longest = 24 * hour;

/** SPEC 7.1: exactly 30 s, 60 s, then 5 min, by the count of errors. */
export function cooldownMs(errors: number): number {
  if (errors <= 1) return 30_000;
  return errors === 2 ? 60_000 : 300_000;
}

/** SPEC 7.2: from 5 h, doubling, to 24 h. */
export function billingMs(errors: number, cooldowns: Cooldowns, provider: string): number {
  const { billingBackoffHours = 5, billingBackoffHoursByProvider = {}, billingMaxHours = 24 } = cooldowns ?? {};
  const first = billingBackoffHoursByProvider[provider] ?? billingBackoffHours;
  return Math.min(first * 2 ** Math.min(errors - 1, 30), billingMaxHours) * hour;
}

const restful: readonly FailureReason[] = ['rate_limit', 'auth', 'billing', 'timeout', 'overloaded', 'model_not_found'];

/** Whether a failure says anything about the profile. A fault of ours, such as a missing adapter, does not. */
export const restsFor = (failure: ModelFailure): failure is ModelFailure & { readonly reason: FailureReason } =>
  failure.reason !== undefined &&
  restful.includes(failure.reason) &&
  !/^(?:MODEL_NO_KEY|AUTH_NO_SECRET|SECRET_UNAVAILABLE|ADAPTER_.*)$/.test(failure.code);

export interface ProfileError {
  readonly profile: string;
  readonly provider: string;
  readonly model: string;
  readonly failure: ModelFailure & { readonly reason: FailureReason };
  readonly beganAt: number;
}

/** The rest that follows an error. Of attempts that ran at once, the first error counts: their outage is one. */
export function restAfter(
  before: Rest | undefined,
  { profile, provider, model, failure, beganAt }: ProfileError,
  cooldowns: Cooldowns,
  now: number,
): Rest {
  const windowMs = (cooldowns?.failureWindowHours ?? 24) * hour;
  const known = before && before.failedAt <= now && now - Math.max(before.until, before.failedAt) <= windowMs ? before : undefined;
  if (known && beganAt < known.failedAt && known.until > now) return known;
  const isBilling = failure.reason === 'billing';
  const errors = (known?.errors ?? 0) + (isBilling ? 0 : 1);
  const billing = (known?.billing ?? 0) + (isBilling ? 1 : 0);
  const step = isBilling ? billingMs(billing, cooldowns, provider) : cooldownMs(errors);
  const until = now + Math.max(step, Math.min(failure.retryAfterMs ?? 0, longest));
  return { profile, model, errors, billing, reason: failure.reason, failedAt: now, until };
}

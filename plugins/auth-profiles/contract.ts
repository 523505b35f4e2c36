import { type Run, service } from '../../kernel/index.ts';
import type { Credential, FailureReason, ModelFailure } from '../models/contract.ts';

export type ProfileMode = 'api_key' | 'token' | 'oauth';

/** One key or token of a provider. */
export interface Profile {
  readonly id: string;
  readonly provider: string;
  readonly mode: ProfileMode;
  /** `implicit`: the provider has none, so that the key of its block or of the environment stands for one. */
  readonly origin: 'config' | 'store' | 'implicit';
}

/** A profile as one model would find it now. */
export interface Standing {
  readonly profile: Profile;
  readonly usable: boolean;
  /** When it can be used again, in milliseconds since 1970; absent where it is usable, and where waiting does not help. */
  readonly readyAt?: number;
  readonly reason?: FailureReason;
  /** Failures since its last success. */
  readonly errors: number;
  /** Why it stands where it stands. */
  readonly why: string;
}

export interface ProfileQuery {
  readonly provider: string;
  readonly model: string;
  /** Whose profile is kept, so that the provider's cache stays warm. */
  readonly sessionId?: string | undefined;
}

/** How an attempt with a profile ended. */
export interface AttemptEnd extends ProfileQuery {
  readonly profile: string;
  /** Of the profile, as it was asked. */
  readonly origin: Profile['origin'];
  /** Milliseconds since 1970: of attempts that ran side by side, one outage counts once. */
  readonly beganAt: number;
  /** What it was tried with: that this was refused says nothing of a secret that took its place. */
  readonly credential?: Credential | undefined;
  /** Absent: it went well. */
  readonly failure?: ModelFailure;
}

/** SPEC 7.1, 7.2, 7.9. One for all sessions, and across restarts. */
export interface AuthProfiles {
  /** All profiles of a provider in the order in which they are to be tried: usable ones, then those that rest (the soonest first), then the rest. */
  standing(run: Run, query: ProfileQuery): readonly Standing[];
  /** The secret, as it is now. Undefined for an implicit profile: `Models.complete` finds that key itself. Throws AUTH_… */
  credential(run: Run, profile: Profile): Promise<Credential | undefined>;
  /** True where what was refused is not what the provider is asked with from now on: it may be asked again at once. */
  report(run: Run, end: AttemptEnd): Promise<boolean>;
}
export const AuthProfiles = service<AuthProfiles>('auth-profiles');

/**
 * Gateway methods, none of which ever answers with a secret:
 *
 * - `auth.list {provider?}` → `{profiles: AuthLine[]}`
 * - `auth.add {provider, id?, mode, secret}` → `{id, notes}`; `notes` say in a line each what a person should know of it; `secret` is a text, a `SecretRef`, or `{access, refresh, expires}` of mode oauth
 * - `auth.remove {id}` → `{removed}` · `auth.order {provider, ids?}` → `{provider, ids}`; `ids: []` forgets the order
 * - `auth.clear {id?, provider?}` → `{cleared}`: ends cooldowns
 */
export interface AuthLine {
  readonly id: string;
  readonly provider: string;
  readonly mode: ProfileMode;
  readonly origin: Profile['origin'];
  readonly state: 'ready' | 'resting' | 'unusable';
  readonly why: string;
  readonly readyAt?: number;
  readonly reason?: FailureReason;
  readonly errors: number;
  readonly lastUsed?: number;
  /** Models that it rests for, while it may serve others. */
  readonly models: readonly { readonly model: string; readonly readyAt: number; readonly reason: FailureReason }[];
}

import { setTimeout as pause } from 'node:timers/promises';
import { KernelError, type Run } from '../../kernel/index.ts';
import { isSecretRef, type SecretInput, secretOf, Secrets } from '../secrets/contract.ts';
import type { Store } from '../store/contract.ts';
import type { AttemptEnd, Profile, ProfileMode } from './contract.ts';
import type { Ledger } from './ledger.ts';
import { tokensIn } from './profile-rows.ts';
import type { AuthConfig } from './schema.ts';
import { profilesOf, sourcesOf } from './standing.ts';
import { accessToken, askEndpoint, type Renewals } from './tokens.ts';

interface Means {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly renewals: Renewals;
  /** A changed key binds runs in flight, and so does that a profile is gone. */
  readonly newest: () => AuthConfig;
  readonly now: () => number;
}

/** What profiles are used with, as it is at the moment of each use. */
export function secretsOf({ store, ledger, renewals, newest, now }: Means) {
  const pathOf = (id: string) => `auth.profiles[${JSON.stringify(id)}]`;

  /** As it is in the newest config; undefined where the profile is gone. */
  function modeOf(profile: Asked): ProfileMode | undefined {
    const { written, stored } = sourcesOf(profile, newest().profiles, ledger);
    return (written ?? stored)?.mode;
  }

  function inputOf(profile: Asked, field: 'apiKey' | 'token'): SecretInput | undefined {
    const { written, stored } = sourcesOf(profile, newest().profiles, ledger);
    const added = stored && 'text' in stored.secret ? stored.secret.text : stored && 'ref' in stored.secret ? stored.secret.ref : undefined;
    return written?.[field] ?? added;
  }

  /** Undefined for an implicit profile. */
  async function of(run: Run, profile: Profile): Promise<string | undefined> {
    const { id, origin } = profile;
    if (origin === 'implicit') return undefined;
    const mode = modeOf(profile) ?? profile.mode;
    if (mode === 'oauth') return renewedToken(run, profile);
    const field = fieldOf(mode);
    const path = `${pathOf(id)}.${field}`;
    const secret = await secretOf(run, inputOf(profile, field), path);
    if (secret !== undefined) return secret;
    throw new KernelError('AUTH_NO_SECRET', `auth profile "${id}" has no key; set ${path}, or "instar models auth add"`);
  }

  async function renewedToken(run: Run, profile: Profile): Promise<string> {
    const { id, provider } = profile;
    const { written, stored } = sourcesOf(profile, newest().profiles, ledger);
    if (!written && !stored) throw new KernelError('AUTH_NO_SECRET', `there is no longer an auth profile "${id}" of ${provider}`);
    const renew = async (refreshToken: string) => {
      if (!written?.oauth) throw new Error(`${pathOf(id)}.oauth does not say where; set it`);
      const clientSecret = await secretOf(run, written.oauth.clientSecret, `${pathOf(id)}.oauth.clientSecret`);
      return askEndpoint({ ...written.oauth, clientSecret }, refreshToken, now);
    };
    return accessToken(id, { store, ledger, renewals, now, pause: (ms) => pause(ms), renew });
  }

  /** What a profile would be used with now; of a token or key, wherever it is written. */
  function currentOf(profile: Asked): SecretInput | undefined {
    const mode = modeOf(profile);
    if (mode === 'oauth') return tokensIn(sourcesOf(profile, newest().profiles, ledger).stored)?.access;
    return mode && inputOf(profile, fieldOf(mode));
  }

  function canRenew(profile: Asked): boolean {
    const { written, stored } = sourcesOf(profile, newest().profiles, ledger);
    return written?.mode === 'oauth' && written.oauth !== undefined && tokensIn(stored)?.refresh !== undefined;
  }

  return {
    of,

    /** Whether another secret stands in the place of the one that was refused. Of one that is kept elsewhere nobody knows. */
    isReplaced({ profile: id, provider, origin, credential }: AttemptEnd): boolean {
      if (origin === 'implicit') return profilesOf(provider, { config: newest(), ledger })[0]?.origin !== 'implicit';
      const current = currentOf({ id, provider });
      return credential !== undefined && !isSecretRef(current) && current !== credential.apiKey;
    },

    /** The provider refused what the profile is used with. True where its token is renewed at the next use, which is not so where it is the renewed one. */
    refused(run: Run, { profile: id, provider, credential }: AttemptEnd, status: number | undefined): boolean {
      const current = currentOf({ id, provider });
      if (isSecretRef(current)) run.find(Secrets)?.forget(current); // changed where it is kept: asked for anew
      // A 403 and the like forbid one model, or the account: a new token changes neither.
      if (status !== 401 || !credential || !canRenew({ id, provider })) return false;
      const before = renewals.stale.get(id);
      const isRenewed = before !== undefined && before !== credential.apiKey;
      if (isRenewed) renewals.stale.delete(id);
      else renewals.stale.set(id, credential.apiKey);
      return !isRenewed;
    },

    /** Their tokens served, or are new, or somebody says that they are good: if one is refused later, it is renewed at once. */
    trust: (isMeant: (id: string) => boolean): void => {
      for (const id of renewals.stale.keys()) if (isMeant(id)) renewals.stale.delete(id);
    },
  };
}

type Asked = Pick<Profile, 'id' | 'provider'>;

const fieldOf = (mode: ProfileMode) => (mode === 'token' ? 'token' : 'apiKey');

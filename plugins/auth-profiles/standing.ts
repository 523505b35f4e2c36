import type { Profile, ProfileMode, ProfileQuery, Standing } from './contract.ts';
import type { Ledger } from './ledger.ts';
import type { StoredProfile } from './profile-rows.ts';
import type { AuthConfig, ConfiguredProfile } from './schema.ts';

export interface Facts {
  readonly config: AuthConfig;
  readonly ledger: Pick<Ledger, 'profiles' | 'usedAt' | 'orderOf' | 'pinned' | 'rests'>;
  readonly now: number;
  /** Why a profile of the config is not part of this generation, such as a variable that is not set. */
  readonly leftOut: (id: string) => string | undefined;
}

const ranks: Readonly<Record<ProfileMode, number>> = { oauth: 0, token: 1, api_key: 2 };

/** SPEC 7.1: the profiles of a provider as this model and session find them, the one to try first at the head. */
export function standingsOf(query: ProfileQuery, facts: Facts): readonly Standing[] {
  const { config, ledger } = facts;
  const known = profilesOf(query.provider, facts);
  const given = config.order?.[query.provider] ?? ledger.orderOf(query.provider);
  const pin = given || query.sessionId === undefined ? undefined : ledger.pinned(query.sessionId, query.provider);
  const ordered = given ? inOrder(given, known, query.provider) : inTurn(known, facts, pin);
  const where = (profile: Profile) => {
    if (given) return config.order?.[query.provider] ? 'by auth.order' : 'by "instar models auth order"';
    if (profile.id === pin) return 'it served this session before';
    return known.length > 1 ? 'least recently used of its kind' : 'the only profile';
  };
  const standings = ordered.map((profile) => standingOf(profile, query.model, facts, where(profile)));
  const place = ({ usable, readyAt }: Standing) => (usable ? 0 : (readyAt ?? Number.MAX_SAFE_INTEGER));
  return standings.toSorted((a, b) => place(a) - place(b));
}

/** One that has none has one all the same: the key of its block, or of the environment. */
export function profilesOf(provider: string, { config, ledger }: Pick<Facts, 'config' | 'ledger'>): readonly Profile[] {
  const configured = Object.entries(config.profiles ?? {}).map(
    ([id, one]): Profile => ({ id, provider: one.provider, mode: one.mode, origin: 'config' }),
  );
  const added = [...ledger.profiles.values()]
    .filter(({ id }) => !config.profiles?.[id])
    .map(({ id, provider: of, mode }): Profile => ({ id, provider: of, mode, origin: 'store' }));
  const own = [...configured, ...added].filter((one) => one.provider === provider);
  return own.length ? own : [{ id: `${provider}:default`, provider, mode: 'api_key', origin: 'implicit' }];
}

const inOrder = (ids: readonly string[], known: readonly Profile[], provider: string): readonly Profile[] =>
  ids.map((id) => known.find((one) => one.id === id) ?? { id, provider, mode: 'api_key', origin: 'config' });

function inTurn(known: readonly Profile[], { ledger }: Facts, pin: string | undefined): readonly Profile[] {
  const before = (a: Profile, b: Profile) => ranks[a.mode] - ranks[b.mode] || ledger.usedAt(a.id) - ledger.usedAt(b.id);
  const turn = known.toSorted(before);
  return [...turn.filter(({ id }) => id === pin), ...turn.filter(({ id }) => id !== pin)];
}

function standingOf(profile: Profile, model: string, facts: Facts, where: string): Standing {
  const lacking = lackOf(profile, facts);
  const rests = facts.ledger.rests(profile.id).filter((rest) => rest.model === '' || rest.model === model);
  const errors = Math.max(0, ...rests.map((rest) => rest.errors + rest.billing));
  if (lacking) return { profile, usable: false, errors, why: lacking };
  const [rest] = rests.filter(({ until }) => until > facts.now).toSorted((a, b) => b.until - a.until);
  if (!rest) return { profile, usable: true, errors, why: where };
  const { reason, until: readyAt } = rest;
  const scope = rest.model ? `with ${rest.model}` : 'altogether';
  return { profile, usable: false, readyAt, reason, errors, why: `rests ${scope} after ${reason}, error ${rest.errors + rest.billing}` };
}

type Sources = { readonly written: ConfiguredProfile | undefined; readonly stored: StoredProfile | undefined };

/** What there is of a profile in the config and among the added ones. Another provider's key of this name is none of it. */
export function sourcesOf(
  { id, provider }: Pick<Profile, 'id' | 'provider'>,
  profiles: AuthConfig['profiles'],
  ledger: Pick<Ledger, 'profiles'>,
): Sources {
  const [written, stored] = [profiles?.[id], ledger.profiles.get(id)];
  return {
    written: written?.provider === provider ? written : undefined,
    stored: stored?.provider === provider ? stored : undefined,
  };
}

/** What keeps a profile from ever being used as it is; undefined where nothing does. */
export function lackOf(profile: Profile, { config, ledger, now, leftOut }: Facts): string | undefined {
  const { id, mode, origin, provider } = profile;
  if (origin === 'implicit') return undefined;
  const { written, stored: added } = sourcesOf(profile, config.profiles, ledger);
  const stored = added?.secret;
  const out = written || stored ? undefined : leftOut(id);
  if (out !== undefined) return `its block was left out: ${out}`;
  if (!written && !stored) return `there is no profile of this name for ${provider}`;
  if (mode !== 'oauth') return (mode === 'api_key' ? written?.apiKey : written?.token) || stored ? undefined : 'it has no key';
  if (!stored || !('tokens' in stored)) return 'nobody signed in: it has no token';
  const { expires, refresh } = stored.tokens;
  if (expires === undefined || expires > now) return undefined;
  return refresh && written?.oauth ? undefined : 'its token has run out and cannot be renewed';
}

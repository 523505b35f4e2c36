import { isCoded, KernelError, messageOf } from '../../kernel/index.ts';
import type { Store } from '../store/contract.ts';
import { newHolder } from './holder.ts';
import type { Ledger } from './ledger.ts';
import { endRefresh, readProfile, type StoredProfile, takeRefresh, type Tokens, tokensIn, writeProfile } from './profile-rows.ts';

/** What is known of renewals in this process, by profile. One for all generations. */
export interface Renewals {
  /** All who need a token wait for the same answer. */
  readonly underWay: Map<string, Promise<string>>;
  /** The access token that the provider refused, whatever its time: it is renewed at the next use. Until it is known what came of that. */
  readonly stale: Map<string, string>;
  /** What the store did not take yet: until then the row has this refresh token, which is used up. */
  readonly unsaved: Map<string, { readonly refresh: string; readonly holder: string }>;
}

export interface Renewing {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly renewals: Renewals;
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<void>;
  /** Asks the token endpoint. Throws where it refuses; AUTH_ENDPOINT_DOWN where it does not say. */
  readonly renew: (refreshToken: string) => Promise<Tokens>;
}

/** A token that runs out so soon might do so under way. */
const marginMs = 60_000;
/** A process that holds a renewal for longer is taken for dead, also where nobody can look whether it is. */
const heldMs = 45_000;
const askMs = 150;

const isGood = (id: string, { access, expires }: Tokens, { now, renewals }: Renewing, atLeastMs: number) =>
  renewals.stale.get(id) !== access && (expires === undefined || expires - atLeastMs > now());

/** The access token, renewed where it must be. Refresh tokens are good for one use: only one process asks at a time. */
export function accessToken(id: string, renewing: Renewing): Promise<string> | string {
  const { ledger, renewals } = renewing;
  if (renewals.unsaved.has(id)) save(id, renewing, 'tx').catch(() => {}); // the next use tries again
  const tokens = tokensIn(ledger.profiles.get(id));
  if (tokens && isGood(id, tokens, renewing, marginMs)) return tokens.access;
  const answer = renewals.underWay.get(id) ?? renewed(id, renewing).finally(() => renewals.underWay.delete(id));
  renewals.underWay.set(id, answer);
  return answer;
}

async function renewed(id: string, renewing: Renewing): Promise<string> {
  const { store, now, pause } = renewing;
  const holder = newHolder();
  for (;;) {
    const isMine = await store.tx((t) => takeRefresh(t, id, holder, now(), now() + heldMs));
    // Whoever held it before us may have renewed it already.
    const tokens = await tokensNow(id, renewing).catch(async (error: unknown) => {
      if (isMine) await letGo(id, holder, store);
      throw error;
    });
    if (isGood(id, tokens, renewing, marginMs)) {
      if (isMine) await letGo(id, holder, store);
      return tokens.access;
    }
    if (isMine) return renewMine(id, holder, tokens, renewing);
    await pause(askMs);
  }
}

/** What cannot be let go now runs out by itself. */
const letGo = (id: string, holder: string, store: Store) => store.tx((t) => endRefresh(t, id, holder)).catch(() => {});

const tokensNow = async (id: string, { ledger, renewals }: Renewing): Promise<Tokens> =>
  known(id, renewals.unsaved.has(id) ? ledger.profiles.get(id) : await ledger.reread(id));

function known(id: string, profile: StoredProfile | undefined): Tokens {
  const tokens = tokensIn(profile);
  if (tokens) return tokens;
  throw new KernelError(
    'AUTH_NO_SECRET',
    `auth profile "${id}" has no token; sign in and add it with "instar models auth add --mode oauth"`,
  );
}

async function renewMine(id: string, holder: string, old: Tokens, renewing: Renewing): Promise<string> {
  const { ledger, renewals, renew, store } = renewing;
  let fresh: Tokens;
  try {
    if (!old.refresh) throw new Error('there is no refresh token; sign in anew');
    fresh = { refresh: old.refresh, ...(await renew(old.refresh)) };
  } catch (cause) {
    await letGo(id, holder, store);
    const current = await tokensNow(id, renewing).catch(() => old);
    // Somebody signed in anew meanwhile; or it is still good for this request.
    if (current.access !== old.access || isGood(id, old, renewing, 0)) return current.access;
    throw notRenewed(id, cause, renewals);
  }
  // In memory first: the refresh token that was sent is worth nothing now. In the store before anybody else may ask.
  const before = ledger.profiles.get(id);
  if (before && tokensIn(before)?.refresh === old.refresh) {
    ledger.keep({ ...before, secret: { tokens: fresh } });
    renewals.unsaved.set(id, { refresh: renewals.unsaved.get(id)?.refresh ?? old.refresh, holder });
    await save(id, renewing, 'tx').catch(() => void save(id, renewing, 'insist').catch(() => {})); // then at the next use
  } else await letGo(id, holder, store);
  const { access } = known(id, ledger.profiles.get(id));
  if (renewals.stale.get(id) === access) throw notRenewed(id, new Error('the endpoint gave the same token'), renewals);
  return access;
}

/** The profile rests. Then its token is tried as it is: it may be good for all but what it was refused to. */
function notRenewed(id: string, cause: unknown, { stale }: Renewals): KernelError {
  stale.delete(id);
  const code = isCoded(cause) && cause.code === 'AUTH_ENDPOINT_DOWN' ? cause.code : 'AUTH_REFRESH_FAILED';
  const what = `auth profile "${id}": its token is no longer good and could not be renewed: ${messageOf(cause)}`;
  return new KernelError(code, what, { cause });
}

/** Who signed in anew meanwhile, or took the profile away, is not overruled. */
async function save(id: string, { store, ledger, renewals, now }: Renewing, how: 'tx' | 'insist') {
  const due = renewals.unsaved.get(id);
  if (!due) return;
  const ours = ledger.profiles.get(id);
  const other = await store[how](async (t) => {
    const row = await readProfile(t, id);
    const isOurs = tokensIn(row)?.refresh === due.refresh;
    const newest = ledger.profiles.get(id);
    if (isOurs && newest) await writeProfile(t, newest, now());
    await endRefresh(t, id, due.holder);
    return isOurs ? undefined : row;
  });
  if (renewals.unsaved.get(id) === due) renewals.unsaved.delete(id);
  if (other && ledger.profiles.get(id) === ours) ledger.keep(other);
}

export interface Endpoint {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
}

/** RFC 6749, section 6. Only what the endpoint itself refuses is for a person to put right. */
export async function askEndpoint(
  { tokenUrl, clientId, clientSecret }: Endpoint,
  refreshToken: string,
  now: () => number,
): Promise<Tokens> {
  const { host } = new URL(tokenUrl);
  const form = {
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
    client_id: clientId,
    ...(clientSecret && { client_secret: clientSecret }),
  };
  const down = (what: string, cause?: unknown) =>
    new KernelError('AUTH_ENDPOINT_DOWN', `${host} ${what}; the next use tries again`, { cause });
  const response = await fetch(tokenUrl, {
    method: 'POST',
    redirect: 'error',
    headers: { accept: 'application/json' },
    body: new URLSearchParams(form),
    signal: AbortSignal.timeout(30_000),
  }).catch((error: Error) => {
    const { cause = error } = error;
    throw down(`did not answer (${isCoded(cause) ? cause.code : messageOf(cause)})`, error);
  });
  const answer = (await response.json().catch(() => ({}))) as Readonly<Record<string, unknown>> | null;
  const { access_token: access, refresh_token: refresh, expires_in: seconds, error } = answer ?? {};
  const said = `answered HTTP ${response.status}${typeof error === 'string' ? ` ${error.slice(0, 80)}` : ''}`;
  const isRefusal = response.status >= 400 && response.status < 500 && ![408, 429].includes(response.status);
  if (isRefusal) throw new Error(`${host} ${said}; sign in anew`);
  if (!response.ok || typeof access !== 'string') throw down(response.ok ? `${said} without a token` : said);
  const lasts = typeof seconds === 'string' ? Number(seconds) : seconds; // some send it as text
  const isTold = typeof lasts === 'number' && lasts > 0 && Number.isFinite(lasts);
  return { access, ...(typeof refresh === 'string' && { refresh }), ...(isTold && { expires: now() + lasts * 1000 }) };
}

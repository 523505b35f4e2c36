import { KernelError, messageOf } from '../../kernel/index.ts';
import type { Store } from '../store/contract.ts';
import { newHolder } from './holder.ts';
import type { Ledger } from './ledger.ts';
import { endRefresh, readProfile, takeRefresh, type Tokens } from './profile-rows.ts';

export interface Renewing {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<void>;
  /** Asks the token endpoint. Throws where it refuses. */
  readonly renew: (refreshToken: string) => Promise<Tokens>;
}

/** A token that runs out so soon might do so under way. */
const marginMs = 60_000;
/** A process that holds a renewal for longer is taken for dead, also where nobody can look whether it is. */
const heldMs = 45_000;
const askMs = 150;

const isFresh = ({ expires }: Tokens, now: number) => expires === undefined || expires - marginMs > now;

/** Renewals under way in this process: all who need the token wait for the same answer. */
export type UnderWay = Map<string, Promise<string>>;

/** The access token, renewed where it must be. Refresh tokens are good for one use: only one process asks at a time. */
export function accessToken(id: string, renewing: Renewing, underWay: UnderWay): Promise<string> | string {
  const secret = renewing.ledger.profiles.get(id)?.secret;
  const tokens = secret && 'tokens' in secret ? secret.tokens : undefined;
  if (tokens && isFresh(tokens, renewing.now())) return tokens.access;
  const known = underWay.get(id) ?? renewed(id, renewing).finally(() => underWay.delete(id));
  underWay.set(id, known);
  return known;
}

async function renewed(id: string, renewing: Renewing): Promise<string> {
  const { ledger, store, now, pause } = renewing;
  const holder = newHolder();
  for (;;) {
    const isMine = await store.tx((t) => takeRefresh(t, id, holder, now(), now() + heldMs));
    // Whoever held it before us may have renewed it already.
    const tokens = await tokensNow(id, ledger);
    if (isFresh(tokens, now())) {
      if (isMine) await store.tx((t) => endRefresh(t, id, holder));
      return tokens.access;
    }
    if (isMine) return renewMine(id, holder, tokens, renewing);
    await pause(askMs);
  }
}

async function tokensNow(id: string, ledger: Ledger): Promise<Tokens> {
  const secret = (await ledger.reread(id))?.secret;
  if (secret && 'tokens' in secret) return secret.tokens;
  throw new KernelError(
    'AUTH_NO_SECRET',
    `auth profile "${id}" has no token; sign in and add it with "instar models auth add --mode oauth"`,
  );
}

async function renewMine(
  id: string,
  holder: string,
  { access, expires, refresh }: Tokens,
  { store, ledger, now, renew }: Renewing,
): Promise<string> {
  try {
    if (!refresh) throw new Error('there is no refresh token');
    const fresh = { refresh, ...(await renew(refresh)) };
    const row = await store.tx((t) => readProfile(t, id));
    // Before anybody else may ask: the old refresh token is worth nothing now.
    if (row) await ledger.put({ ...row, secret: { tokens: fresh } });
    return fresh.access;
  } catch (cause) {
    if (expires !== undefined && expires > now()) return access; // still good for this request
    throw new KernelError(
      'AUTH_REFRESH_FAILED',
      `auth profile "${id}": its token has run out and could not be renewed: ${messageOf(cause)}; sign in anew`,
      { cause },
    );
  } finally {
    await store.tx((t) => endRefresh(t, id, holder));
  }
}

/** RFC 6749, section 6. */
export async function askEndpoint(
  { tokenUrl, clientId, clientSecret }: { readonly tokenUrl: string; readonly clientId: string; readonly clientSecret: string | undefined },
  refreshToken: string,
  now: () => number,
): Promise<Tokens> {
  const form = {
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
    client_id: clientId,
    ...(clientSecret && { client_secret: clientSecret }),
  };
  const response = await fetch(tokenUrl, {
    method: 'POST',
    redirect: 'error',
    headers: { accept: 'application/json' },
    body: new URLSearchParams(form),
    signal: AbortSignal.timeout(30_000),
  });
  const answer = (await response.json().catch(() => ({}))) as Readonly<Record<string, unknown>>;
  const { access_token: access, refresh_token: refresh, expires_in: seconds, error } = answer;
  if (!response.ok || typeof access !== 'string') {
    throw new Error(
      `${new URL(tokenUrl).host} answered HTTP ${response.status}${typeof error === 'string' ? ` ${error.slice(0, 80)}` : ''}`,
    );
  }
  return {
    access,
    ...(typeof refresh === 'string' && { refresh }),
    ...(typeof seconds === 'number' && seconds > 0 && { expires: now() + seconds * 1000 }),
  };
}

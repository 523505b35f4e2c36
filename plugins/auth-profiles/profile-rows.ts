import type { FailureReason } from '../models/contract.ts';
import type { Row, Tx } from '../store/contract.ts';
import type { Rest } from './cooldown.ts';
import type { ProfileMode } from './contract.ts';
import { isGone } from './holder.ts';
import type { SecretRef } from '../secrets/contract.ts';

/** `secret` is JSON. A row of auth_refreshes is held while one process renews a token. */
export const tables = [
  `CREATE TABLE auth_profiles (id TEXT PRIMARY KEY, provider TEXT NOT NULL, mode TEXT NOT NULL, secret TEXT NOT NULL, changed_at INTEGER NOT NULL) STRICT;
   CREATE TABLE auth_rests (
     profile TEXT NOT NULL, model TEXT NOT NULL, errors INTEGER NOT NULL, billing INTEGER NOT NULL, reason TEXT NOT NULL,
     failed_at INTEGER NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (profile, model)) STRICT;
   CREATE TABLE auth_uses (profile TEXT PRIMARY KEY, used_at INTEGER NOT NULL) STRICT;
   CREATE TABLE auth_pins (session TEXT NOT NULL, provider TEXT NOT NULL, profile TEXT NOT NULL, pinned_at INTEGER NOT NULL, PRIMARY KEY (session, provider)) STRICT;
   CREATE TABLE auth_orders (provider TEXT PRIMARY KEY, ids TEXT NOT NULL) STRICT;
   CREATE TABLE auth_refreshes (profile TEXT PRIMARY KEY, holder TEXT NOT NULL, until INTEGER NOT NULL) STRICT`,
];

export interface Tokens {
  readonly access: string;
  readonly refresh?: string;
  /** Milliseconds since 1970. */
  readonly expires?: number;
}
export type StoredSecret = { readonly text: string } | { readonly ref: SecretRef } | { readonly tokens: Tokens };

export interface StoredProfile {
  readonly id: string;
  readonly provider: string;
  readonly mode: ProfileMode;
  readonly secret: StoredSecret;
}

export const tokensIn = (profile: StoredProfile | undefined): Tokens | undefined =>
  profile && 'tokens' in profile.secret ? profile.secret.tokens : undefined;

const stored = (row: Row): StoredProfile => ({
  id: String(row['id']),
  provider: String(row['provider']),
  mode: row['mode'] as ProfileMode,
  secret: JSON.parse(String(row['secret'])) as StoredSecret,
});

const rest = (row: Row): Rest => ({
  profile: String(row['profile']),
  model: String(row['model']),
  errors: Number(row['errors']),
  billing: Number(row['billing']),
  reason: row['reason'] as FailureReason,
  failedAt: Number(row['failed_at']),
  until: Number(row['until']),
});

export interface Pin {
  readonly session: string;
  readonly provider: string;
  readonly profile: string;
}

export interface Everything {
  readonly profiles: readonly StoredProfile[];
  readonly rests: readonly Rest[];
  readonly uses: readonly (readonly [profile: string, usedAt: number])[];
  readonly pins: readonly Pin[];
  readonly orders: readonly (readonly [provider: string, ids: readonly string[]])[];
}

/** Pins of sessions that were not used for so long lead to no warm cache. */
const pinnedMs = 7 * 86_400_000;

export async function readAll(t: Tx, now: number): Promise<Everything> {
  await t.run('DELETE FROM auth_pins WHERE pinned_at < ?', now - pinnedMs);
  const pins = await t.all<{ session: string; provider: string; profile: string }>('SELECT session, provider, profile FROM auth_pins');
  const uses = await t.all('SELECT profile, used_at FROM auth_uses');
  const orders = await t.all('SELECT provider, ids FROM auth_orders');
  return {
    profiles: (await t.all('SELECT * FROM auth_profiles')).map(stored),
    rests: (await t.all('SELECT * FROM auth_rests')).map(rest),
    uses: uses.map((row) => [String(row['profile']), Number(row['used_at'])] as const),
    pins: pins.map(({ session, provider, profile }) => ({ session, provider, profile })),
    orders: orders.map((row) => [String(row['provider']), JSON.parse(String(row['ids'])) as string[]] as const),
  };
}

export async function readProfile(t: Tx, id: string): Promise<StoredProfile | undefined> {
  const row = await t.get('SELECT * FROM auth_profiles WHERE id = ?', id);
  return row && stored(row);
}

export async function writeProfile(t: Tx, { id, provider, mode, secret }: StoredProfile, now: number) {
  await t.run('INSERT OR REPLACE INTO auth_profiles VALUES (?, ?, ?, ?, ?)', id, provider, mode, JSON.stringify(secret), now);
}

export async function removeProfile(t: Tx, id: string) {
  await t.run('DELETE FROM auth_profiles WHERE id = ?', id);
}

export async function removeTraces(t: Tx, id: string) {
  await t.run('DELETE FROM auth_uses WHERE profile = ?', id);
  await t.run('DELETE FROM auth_pins WHERE profile = ?', id);
  await t.run('DELETE FROM auth_rests WHERE profile = ?', id);
}

export async function writeRest(t: Tx, { profile, model, errors, billing, reason, failedAt, until }: Rest) {
  await t.run('INSERT OR REPLACE INTO auth_rests VALUES (?, ?, ?, ?, ?, ?, ?)', profile, model, errors, billing, reason, failedAt, until);
}

export async function removeRest(t: Tx, { profile, model }: Pick<Rest, 'profile' | 'model'>) {
  await t.run('DELETE FROM auth_rests WHERE profile = ? AND model = ?', profile, model);
}

export async function writeUse(t: Tx, profile: string, now: number) {
  await t.run('INSERT OR REPLACE INTO auth_uses VALUES (?, ?)', profile, now);
}

export async function writePin(t: Tx, { session, provider, profile }: Pin, now: number) {
  await t.run('INSERT OR REPLACE INTO auth_pins VALUES (?, ?, ?, ?)', session, provider, profile, now);
}

export async function removePins(t: Tx, profile: string) {
  await t.run('DELETE FROM auth_pins WHERE profile = ?', profile);
}

export async function writeOrder(t: Tx, provider: string, ids: readonly string[]) {
  if (ids.length === 0) await t.run('DELETE FROM auth_orders WHERE provider = ?', provider);
  else await t.run('INSERT OR REPLACE INTO auth_orders VALUES (?, ?)', provider, JSON.stringify(ids));
}

/** True where this holder may renew now: nobody else does, or who did is gone. */
export async function takeRefresh(t: Tx, profile: string, holder: string, now: number, until: number): Promise<boolean> {
  const held = await t.get<{ holder: string; until: number }>('SELECT holder, until FROM auth_refreshes WHERE profile = ?', profile);
  // `until` of a clock that was put right since is far ahead.
  if (held && (held.until < now || held.until > until || isGone(held.holder))) await endRefresh(t, profile, held.holder);
  return (await t.run('INSERT OR IGNORE INTO auth_refreshes VALUES (?, ?, ?)', profile, holder, until)).changes === 1;
}

export async function endRefresh(t: Tx, profile: string, holder: string) {
  await t.run('DELETE FROM auth_refreshes WHERE profile = ? AND holder = ?', profile, holder);
}

import type { Tx } from '../store/contract.ts';

/**
 * budget_spent: a running sum per scope, `held_*` of it reserved. budget_reserved: requests under way. budget_ledger: what
 * became of each request, only added to. budget_days: what is left of ledger rows that grew old.
 */
export const tables = [
  `CREATE TABLE budget_spent (
     scope TEXT PRIMARY KEY, requests INTEGER NOT NULL DEFAULT 0, tokens INTEGER NOT NULL DEFAULT 0, nanos INTEGER NOT NULL DEFAULT 0,
     unpriced INTEGER NOT NULL DEFAULT 0, held_tokens INTEGER NOT NULL DEFAULT 0, held_nanos INTEGER NOT NULL DEFAULT 0,
     changed_at INTEGER NOT NULL) STRICT;
   CREATE TABLE budget_reserved (
     id TEXT PRIMARY KEY, boot TEXT NOT NULL, at INTEGER NOT NULL, scopes TEXT NOT NULL, facts TEXT NOT NULL,
     tokens INTEGER NOT NULL, nanos INTEGER NOT NULL, priced INTEGER NOT NULL) STRICT;
   CREATE TABLE budget_ledger (
     id INTEGER PRIMARY KEY, at INTEGER NOT NULL, how TEXT NOT NULL, day TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL,
     root TEXT NOT NULL, model TEXT NOT NULL, requests INTEGER NOT NULL, tokens INTEGER NOT NULL, nanos INTEGER NOT NULL,
     unpriced INTEGER NOT NULL) STRICT;
   CREATE INDEX budget_ledger_at ON budget_ledger (at);
   CREATE TABLE budget_days (
     day TEXT NOT NULL, agent TEXT NOT NULL, model TEXT NOT NULL, requests INTEGER NOT NULL, tokens INTEGER NOT NULL,
     nanos INTEGER NOT NULL, unpriced INTEGER NOT NULL, PRIMARY KEY (day, agent, model)) STRICT;
   CREATE TABLE budget_granted (scope TEXT NOT NULL, root TEXT NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (scope, root)) STRICT`,
];

/** Of whom a request is; `day` is that on which it was reserved, also where it ends on the next. */
export interface Facts {
  readonly day: string;
  readonly agent: string;
  readonly session: string;
  readonly root: string;
  readonly model: string;
}

/** `unpriced`: tokens whose price nobody knows. */
export interface Sum {
  readonly requests: number;
  readonly tokens: number;
  readonly nanos: number;
  readonly unpriced: number;
}

export interface Reserved {
  readonly id: string;
  readonly scopes: readonly string[];
  readonly facts: Facts;
  readonly tokens: number;
  readonly nanos: number;
  readonly isPriced: boolean;
}

/** `settled`: as told · `estimated`: counted from its length · `recovered`: its end is unknown · `corrected`: told after that · `reset`. */
export type How = 'settled' | 'estimated' | 'recovered' | 'corrected' | 'reset';

export interface SpentRow extends Sum {
  readonly scope: string;
  readonly held_tokens: number;
  readonly held_nanos: number;
}

export const readSpent = (t: Tx, scope: string): Promise<SpentRow | undefined> =>
  t.get<SpentRow>('SELECT * FROM budget_spent WHERE scope = ?', scope);

export const readRecent = (t: Tx, prefix: string, most: number): Promise<readonly SpentRow[]> =>
  t.all<SpentRow>(
    'SELECT * FROM budget_spent WHERE substr(scope, 1, ?) = ? ORDER BY changed_at DESC, scope LIMIT ?',
    prefix.length,
    prefix,
    most,
  );

const counted = ['requests', 'tokens', 'nanos', 'unpriced', 'held_tokens', 'held_nanos'] as const;

/** To each of these sums, in one statement: a request counts for five of them or more. */
export async function add(t: Tx, scopes: readonly string[], more: Partial<Omit<SpentRow, 'scope'>>, now: number) {
  if (scopes.length === 0) return;
  const row = `(?, ${counted.map(() => '?').join(', ')}, ?)`;
  await t.run(
    `INSERT INTO budget_spent (scope, ${counted.join(', ')}, changed_at) VALUES ${scopes.map(() => row).join(', ')}
     ON CONFLICT (scope) DO UPDATE SET ${counted.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')},
       changed_at = excluded.changed_at`,
    ...scopes.flatMap((scope) => [scope, ...counted.map((name) => more[name] ?? 0), now]),
  );
}

export async function writeReserved(t: Tx, { id, scopes, facts, tokens, nanos, isPriced }: Reserved, boot: string, now: number) {
  await t.run(
    'INSERT INTO budget_reserved VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    id,
    boot,
    now,
    JSON.stringify(scopes),
    JSON.stringify(facts),
    tokens,
    nanos,
    Number(isPriced),
  );
  await add(t, scopes, { held_tokens: tokens, held_nanos: nanos }, now);
}

/** False where it is gone already: somebody charged it. What it held is still in the sums. */
export async function removeReserved(t: Tx, { id }: Reserved): Promise<boolean> {
  return (await t.run('DELETE FROM budget_reserved WHERE id = ?', id)).changes > 0;
}

/** From before `before`; with a `boot`, those of all others too. */
export async function readLost(t: Tx, boot: string | undefined, before: number): Promise<readonly Reserved[]> {
  const rows = await t.all('SELECT * FROM budget_reserved WHERE boot <> coalesce(?, boot) OR at < ?', boot ?? null, before);
  return rows.map((row) => ({
    id: String(row['id']),
    scopes: JSON.parse(String(row['scopes'])) as string[],
    facts: JSON.parse(String(row['facts'])) as Facts,
    tokens: Number(row['tokens']),
    nanos: Number(row['nanos']),
    isPriced: Number(row['priced']) === 1,
  }));
}

export async function writeLedger(t: Tx, how: How, { day, agent, session, root, model }: Facts, sum: Sum, now: number) {
  await t.run(
    `INSERT INTO budget_ledger (at, how, day, agent, session, root, model, requests, tokens, nanos, unpriced)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    now,
    how,
    day,
    agent,
    session,
    root,
    model,
    sum.requests,
    sum.tokens,
    sum.nanos,
    sum.unpriced,
  );
}

/** What is reserved stays: requests under way settle as they would have. */
export async function clearSpent(t: Tx, scope: string | undefined): Promise<number> {
  const sql = 'UPDATE budget_spent SET requests = 0, tokens = 0, nanos = 0, unpriced = 0';
  const done = scope === undefined ? t.run(sql) : t.run(`${sql} WHERE scope = ?`, scope);
  return (await done).changes;
}

/** Old ledger rows become sums per day; sums of runs and sessions that nobody adds to are let go. Agents' own stay. */
export async function prune(t: Tx, before: number, now: number) {
  await t.run(
    `INSERT INTO budget_days SELECT day, agent, model, sum(requests), sum(tokens), sum(nanos), sum(unpriced) FROM budget_ledger
     WHERE at < ? AND how <> 'reset' GROUP BY day, agent, model
     ON CONFLICT (day, agent, model) DO UPDATE SET requests = requests + excluded.requests, tokens = tokens + excluded.tokens,
       nanos = nanos + excluded.nanos, unpriced = unpriced + excluded.unpriced`,
    before,
  );
  await t.run('DELETE FROM budget_ledger WHERE at < ?', before);
  await t.run("DELETE FROM budget_spent WHERE changed_at < ? AND scope NOT LIKE 'agent:%' AND held_tokens = 0", before);
  await t.run('DELETE FROM budget_granted WHERE until < ?', now);
}

export async function writeGrant(t: Tx, scope: string, root: string, until: number) {
  await t.run('INSERT OR REPLACE INTO budget_granted VALUES (?, ?, ?)', scope, root, until);
}

/** `root` of a grant to everybody is empty. */
export async function isGranted(t: Tx, scope: string, root: string, now: number): Promise<boolean> {
  const row = await t.get("SELECT 1 FROM budget_granted WHERE scope = ? AND root IN ('', ?) AND until > ?", scope, root, now);
  return row !== undefined;
}

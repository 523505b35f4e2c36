import type { Store } from '../store/contract.ts';
import type { Allowlist, AllowlistEntry } from './contract.ts';

export const owner = 'approvals';
export const steps = [
  'CREATE TABLE approvals_allow (agent TEXT NOT NULL, tool TEXT NOT NULL, what TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (agent, tool, what)) WITHOUT ROWID',
  'CREATE TABLE approvals_allowlist (id INTEGER PRIMARY KEY AUTOINCREMENT, agent TEXT NOT NULL, entry TEXT NOT NULL, at INTEGER NOT NULL, by TEXT NOT NULL, UNIQUE (agent, entry))',
];

/** Exactly this, by this tool, for this agent. */
export interface Allowed {
  readonly agent: string;
  readonly tool: string;
  readonly what: string;
}

export const remember = async (store: Store, { agent, tool, what }: Allowed, at: number): Promise<void> => {
  await store.tx((t) => t.run('INSERT OR IGNORE INTO approvals_allow (agent, tool, what, at) VALUES (?, ?, ?, ?)', agent, tool, what, at));
};

export const isRemembered = async (store: Store, { agent, tool, what }: Allowed): Promise<boolean> =>
  (await store.tx((t) => t.get('SELECT 1 FROM approvals_allow WHERE agent = ? AND tool = ? AND what = ?', agent, tool, what))) !==
  undefined;

type EntryRow = { readonly id: number; readonly agent: string; readonly entry: string; readonly at: number; readonly by: string };
type Kept = Pick<AllowlistEntry, 'pattern' | 'args' | 'argPattern' | 'sha256' | 'cwd'>;

/** One form for one meaning, so that the same entry is the same row. */
const canonical = ({ pattern, args, argPattern, sha256, cwd }: Kept) => JSON.stringify({ pattern, args, argPattern, sha256, cwd });

const read = ({ id, agent, entry, at, by }: EntryRow): AllowlistEntry => ({ id, agent, ...(JSON.parse(entry) as Kept), at, by });

export function allowlistIn(store: Store, now: () => number): Allowlist {
  return {
    list: (agent) =>
      store.tx(async (t) => {
        const rows = await t.all<EntryRow>(
          `SELECT * FROM approvals_allowlist WHERE ? IS NULL OR agent IN (?, '*') ORDER BY id`,
          agent ?? null,
          agent ?? null,
        );
        return rows.map(read);
      }),
    add: ({ agent, by, ...entry }) =>
      store.tx(async (t) => {
        const form = canonical(entry);
        const same = () => t.get<EntryRow>('SELECT * FROM approvals_allowlist WHERE agent = ? AND entry = ?', agent, form);
        const known = await same();
        if (known) return read(known);
        await t.run('INSERT INTO approvals_allowlist (agent, entry, at, by) VALUES (?, ?, ?, ?)', agent, form, now(), by);
        const row = await same();
        if (!row) throw new Error('the row was just written');
        return read(row);
      }),
    remove: async (id) => (await store.tx((t) => t.run('DELETE FROM approvals_allowlist WHERE id = ?', id))).changes > 0,
  };
}

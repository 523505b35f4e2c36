import type { Store } from '../store/contract.ts';

export const owner = 'approvals';
export const steps = [
  'CREATE TABLE approvals_allow (agent TEXT NOT NULL, tool TEXT NOT NULL, what TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (agent, tool, what)) WITHOUT ROWID',
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

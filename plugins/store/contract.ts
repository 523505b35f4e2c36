import { service } from '../../kernel/index.ts';

export { type Patience, untilThereIsRoom } from './contract/until-room.ts';

export type Cell = string | number | bigint | null | Uint8Array;
export type Row = Readonly<Record<string, Cell>>;

/** One open transaction. Inside `tx`, await nothing but these. */
export interface Tx {
  run(sql: string, ...params: Cell[]): Promise<{ readonly changes: number; readonly lastId: number }>;
  get<R extends object = Row>(sql: string, ...params: Cell[]): Promise<R | undefined>;
  all<R extends object = Row>(sql: string, ...params: Cell[]): Promise<readonly R[]>;
}

/** Rows that survive process death (not power loss: WAL with `synchronous=NORMAL`). */
export interface Store {
  /** Serialised: one transaction at a time; a throw rolls it back. STORE_UNUSABLE where the disk is full or the file is lost. */
  tx<T>(work: (t: Tx) => Promise<T>): Promise<T>;
  /**
   * As `tx`, for the end of something that has happened already: while the store is unusable it is tried again, until
   * there is room or the process ends. A stop of the turn does not end it, nor does a reload: it would be done twice.
   * `work` may run more than once.
   */
  insist<T>(work: (t: Tx) => Promise<T>): Promise<T>;
  /** Brings the owner's tables to `steps.length`. Call it in setup; a newer version on disk is refused. */
  migrate(owner: string, steps: readonly string[]): Promise<void>;
}

export const Store = service<Store>('store');

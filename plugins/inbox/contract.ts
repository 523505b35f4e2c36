import { service, type Content, type Subject } from '../../kernel/index.ts';
import type { Message, Provenance } from '../sessions/contract.ts';
import type { Tx } from '../store/contract.ts';

/** One way in: what every channel, page, command and plugin hands over. */
export interface Arrival {
  readonly sessionKey: string;
  readonly agentId: string;
  readonly content: string | readonly Content[];
  readonly provenance: Provenance;
  /** Facts of the door that the turn is judged by: channel, sender, group, session kind. */
  readonly subject: Pick<Subject, 'channel' | 'sender' | 'group' | 'session' | 'depth'>;
  /** Where the answer goes: `<scheme>:<id>`, e.g. `http:<requestId>`, `gateway:<sessionKey>`. */
  readonly route: string;
  /** The same key again names the same item, up to a week after its end: nothing is enqueued twice. */
  readonly idempotencyKey?: string;
  /** Ephemeral sessions of stateless clients bring the history themselves. */
  readonly history?: readonly Message[];
  readonly ephemeral?: boolean;
  /** The sender waits on a connection that dies with this process: after a restart the item is cancelled, not run. */
  readonly volatile?: boolean;
  /** A model this turn was explicitly asked for, `provider/id`. */
  readonly model?: string;
}

export interface Receipt {
  readonly itemId: string;
  /** True where the idempotency key was known already. */
  readonly known: boolean;
  /** `open | done | failed | cancelled` at the time of the call. */
  readonly state: string;
}

export interface Inbox {
  /** Durable when it settles: only then tell the sender "received". */
  enqueue(arrival: Arrival): Promise<Receipt>;
  /** Ends the running turn of a session (and forgets nothing that waits); false where none runs. */
  abort(sessionKey: string, why: string): boolean;
  /** Cancels one item, waiting or running. */
  cancel(itemId: string, why: string): Promise<boolean>;
  /** Marks an item's end in the caller's transaction, beside its outbox row. */
  finish(t: Tx, itemId: string, state: 'done' | 'failed' | 'cancelled', runId: string): Promise<void>;
  /** What runs and waits now, for status and pages. */
  active(): readonly {
    readonly sessionKey: string;
    readonly itemId: string;
    readonly state: 'running' | 'waiting';
    readonly since: number;
  }[];
}

export const Inbox = service<Inbox>('inbox');

/** A claimed row, as the turn gets it. */
export interface InboxItem extends Arrival {
  readonly itemId: string;
  readonly enqueuedAt: number;
  /** Over 1 where an earlier process may have begun a turn for it. */
  readonly attempt: number;
}

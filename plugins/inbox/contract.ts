import { service, type Content, type Run, type Subject, waterfall } from '../../kernel/index.ts';
import type { Member } from '../policy/contract.ts';
import type { Message, Provenance } from '../sessions/contract.ts';
import type { Tx } from '../store/contract.ts';
import type { QueueMode } from './contract/command.ts';

export { type Command, commandIn, type QueueCommand, type QueueMode, queueModes, wordIn } from './contract/command.ts';

/** One way in: what every channel, page, command and plugin hands over. */
export interface Arrival {
  readonly sessionKey: string;
  readonly agentId: string;
  readonly content: string | readonly Content[];
  readonly provenance: Provenance;
  /** Facts of the door that the turn is judged by: channel, sender, group, session kind. */
  readonly subject: Pick<Subject, 'channel' | 'sender' | 'group' | 'session' | 'depth' | 'sandboxed'> & Member;
  /** Where the answer goes: `<scheme>:<id>`, e.g. `http:<requestId>`, `gateway:<sessionKey>`. */
  readonly route: string;
  /**
   * The same key again names the same item, up to a week after its end: nothing is enqueued twice. With another message, or
   * to another session or agent, it is refused (IDEMPOTENCY_KEY_USED). An item that was refused gives its key free.
   */
  readonly idempotencyKey?: string;
  /** Ephemeral sessions of stateless clients bring the history themselves. */
  readonly history?: readonly Message[];
  readonly ephemeral?: boolean;
  /** The sender waits on a connection that dies with this process: after a restart the item is cancelled, not run. */
  readonly volatile?: boolean;
  /** A model this turn was explicitly asked for, `provider/id`. */
  readonly model?: string;
  /** Goes before what the session and the config say. */
  readonly mode?: QueueMode;
}

export interface Receipt {
  readonly itemId: string;
  /** True where the idempotency key was known already. */
  readonly known: boolean;
  /** `open | done | failed | refused | cancelled` at the time of the call. */
  readonly state: string;
}

export interface Inbox {
  /**
   * Durable when it settles: only then tell the sender "received". From then on it is answered, or refused with a reason
   * through the outbox (QUEUE_FULL). `/stop`, `/new`, `/reset`, `/queue` and `/help` are obeyed at once and answered likewise.
   */
  enqueue(arrival: Arrival): Promise<Receipt>;
  /** Ends the running turn of a session (and forgets nothing that waits); false where none runs. */
  abort(sessionKey: string, why: string): boolean;
  /**
   * Ends what runs and what waits in a session as stopped, then does `work` before anything else begins there. A turn that
   * has not ended after five seconds is not waited for any longer: its own end follows.
   */
  clear<T>(sessionKey: string, run: Run, work: () => Promise<T>): Promise<T>;
  /** Cancels one item, waiting or running. False for one that joined another's turn: its words are said. */
  cancel(itemId: string, why: string): Promise<boolean>;
  /** Marks an item's end in the caller's transaction, beside its outbox row. */
  finish(t: Tx, itemId: string, state: 'done' | 'failed' | 'refused' | 'cancelled', runId: string): Promise<void>;
  /**
   * For what a tool of `run`'s turn waits for that is not its own work: another session's turn, a person. Meanwhile the
   * turn's place in its lane is another's; it is taken again before this settles. No deadline of the turn counts this
   * time. Outside a turn just the work.
   */
  aside<T>(run: Run, work: () => Promise<T>): Promise<T>;
  /** What runs and waits now, for status and pages. Of a turn's items, the one that began it comes first. */
  active(): readonly ActiveItem[];
}

export const Inbox = service<Inbox>('inbox');

export interface ActiveItem {
  readonly sessionKey: string;
  readonly itemId: string;
  readonly state: 'running' | 'waiting';
  readonly since: number;
  readonly lane: string;
  readonly mode: QueueMode;
}

/** A claimed row, as the turn gets it. */
export interface InboxItem extends Arrival {
  readonly itemId: string;
  readonly enqueuedAt: number;
  /** Over 1 where an earlier process may have begun a turn for it. */
  readonly attempt: number;
  /** More came than may wait: the turn that answers it with others is shown how it begins. */
  readonly isShortened?: boolean;
}

/** What a turn holds of its lane. */
export interface Claim {
  /** The item that began the turn, then those that joined it. They end together, in one transaction. */
  readonly items: readonly InboxItem[];
  /** Takes in what waits and may join: at the start what is collected, between two rounds what steers. */
  join(when: 'start' | 'round'): readonly InboxItem[];
  /** Takes in what an earlier process had written into this turn already. */
  rejoin(itemIds: readonly string[]): void;
  /** It has ended by itself, e.g. refused. */
  part(item: InboxItem): void;
  /** The turn has its end in the store: its session goes on while the answer is on its way. */
  free(): void;
}

/** A word that is obeyed instead of being read by a model, such as `/compact`: sent alone, as a whole message. Who obeys it reads it by `wordIn`. */
export interface ChatWord {
  readonly word: string;
  /** With what may follow it. */
  readonly usage: string;
  readonly does: string;
}

/** All of them, for `/help`: whoever obeys one adds it. What is no word of the list is answered with the list. Asked at each swap. */
export const ChatWords = waterfall<readonly ChatWord[]>('inbox.words');

/** How many turns run at once, per lane: `main`, `subagent`, `cron`. Asked at each swap. */
export const LaneLimits = waterfall<Readonly<Record<string, number>>>('inbox.limits');

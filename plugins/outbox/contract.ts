import { bail, type Run, service } from '../../kernel/index.ts';
import type { Tx } from '../store/contract.ts';

/** SPEC 6.2: what a person or program is sent. */
export interface Payload {
  readonly text?: string;
  readonly mediaUrl?: string;
  readonly mediaUrls?: readonly string[];
  readonly replyToId?: string;
  readonly isError?: boolean;
  readonly isReasoning?: boolean;
}

export interface Delivery {
  readonly id: string;
  readonly route: string;
  readonly sessionKey: string;
  readonly itemId: string;
  readonly payloads: readonly Payload[];
  /** Usage, stop reason, error code: for clients, not for people. */
  readonly meta: Readonly<Record<string, unknown>>;
  readonly attempt: number;
}

/**
 * `retry`: it did not go out, and may later. All that comes after it waits for it, some 6.5 minutes over all attempts: so what
 * will never go (blocked, too long, no such chat) is `failed`, which lets the next one go at once. `gone`: whoever waited is
 * not there any more (closed request): ends as expired, not as a dead letter.
 */
export type SendResult =
  | { readonly kind: 'delivered'; readonly ref?: string }
  | { readonly kind: 'gone'; readonly why: string }
  | { readonly kind: 'retry'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string };

/**
 * Asked by route scheme: answer only for routes that are yours, once it is known how it went, however long that takes: until then,
 * up to ten minutes, it is not asked again and the next answer to that place waits.
 */
export const SendDelivery = bail<Delivery, SendResult>('outbox.send');

export const outboxStates = ['waiting', 'delivered', 'joined', 'expired', 'dead', 'dropped'] as const;

/**
 * A row as the gateway's methods show it: `outbox.list {states?, limit?}` → `{rows}`, newest first (default: `waiting` and
 * `dead`) · `outbox.retry {id}` or `{all: true}` (each dead letter) → `{retried: ids}`, those that go
 * now: of one that waits behind others to its place the first of them · `outbox.drop {id}` → `{dropped}`. An id may be cut
 * to its first characters.
 */
export interface OutboxRow extends Delivery {
  readonly state: (typeof outboxStates)[number];
  /** Of the last attempt. */
  readonly why: string | undefined;
  readonly createdAt: number;
  readonly settledAt: number | undefined;
}

/** One way out. */
export interface Outbox {
  /**
   * Writes the row in the caller's transaction, beside what it answers. With `joins`, the item whose answer this is too:
   * it is kept for `find` and not sent.
   */
  put(t: Tx, delivery: Omit<Delivery, 'id' | 'attempt'>, joins?: string): Promise<Delivery>;
  /**
   * Sends a committed row; retries follow by themselves. One route's are sent one at a time, in their order: behind one that
   * waits for its next attempt this settles at once, as `retry`; so it does once a channel has said nothing for a minute.
   */
  deliver(run: Run, delivery: Delivery): Promise<SendResult>;
  /** The answer of an item, once there is one. */
  find(itemId: string): Promise<Delivery | undefined>;
}

export const Outbox = service<Outbox>('outbox');

import { randomUUID } from 'node:crypto';
import { isCoded, type Log, messageOf, type Run } from '../../kernel/index.ts';
import type { Store } from '../store/contract.ts';
import { type Delivery, type Outbox, SendDelivery, type SendResult } from './contract.ts';
import { insertRow, rowOfItem, settleRow } from './delivery-rows.ts';
import type { Retries } from './retries.ts';

/** Milliseconds before the second, third … attempt; after the last the row is dead. */
const backoff = [1_000, 5_000, 20_000, 60_000, 300_000];

export function openOutbox(store: Store, retries: Retries, log: Log): Outbox {
  async function attempt(run: Run, delivery: Delivery): Promise<SendResult> {
    try {
      return (await run.call(SendDelivery, delivery)) ?? nobody(delivery.route);
    } catch (error) {
      return { kind: 'retry', why: isCoded(error) ? `${error.code}: ${error.message}` : messageOf(error) };
    }
  }

  async function deliver(run: Run, delivery: Delivery): Promise<SendResult> {
    const tried = delivery.attempt + 1;
    const sent = await attempt(run, delivery);
    const wait = backoff[tried - 1];
    const result: SendResult = sent.kind === 'retry' && wait === undefined ? { kind: 'failed', why: sent.why } : sent;
    const isOurs = await store.insist((t) => settleRow(t, delivery.id, result, tried, Date.now())); // else it would be sent twice
    if (!isOurs) return { kind: 'failed', why: 'it was dropped by hand' };
    if (result.kind === 'failed') log.error(`delivery to ${delivery.route} failed: ${result.why}`, { itemId: delivery.itemId });
    if (result.kind === 'retry' && wait !== undefined) retries.again({ ...delivery, attempt: tried }, wait);
    return result;
  }

  return {
    deliver,
    async put(t, facts, joins) {
      const delivery = { ...facts, id: randomUUID(), attempt: 0 };
      await insertRow(t, delivery, joins ? 'joined' : 'waiting', Date.now());
      return delivery;
    },
    find: (itemId) => store.tx((t) => rowOfItem(t, itemId)),
  };
}

/** A request's answer has nobody after a restart; a chat may get its channel back. */
const nobody = (route: string): SendResult =>
  route.startsWith('http:')
    ? { kind: 'gone', why: 'the request is not open any more' }
    : { kind: 'retry', why: `no plugin sends to "${route}"` };

import { randomUUID } from 'node:crypto';
import { isCoded, type Log, messageOf, type Run } from '../../kernel/index.ts';
import type { Store } from '../store/contract.ts';
import { type Delivery, type Outbox, SendDelivery, type SendResult } from './contract.ts';
import { insertRow, rowOfItem, settleRow } from './delivery-rows.ts';
import type { Lines } from './lines.ts';

/** Milliseconds before the second, third … attempt; after the last the row is dead. */
const backoff = [1_000, 5_000, 20_000, 60_000, 300_000];

/** Whoever delivers does not wait longer for a channel; its line does. */
const patienceMs = 60_000;

/** What a channel says nothing of for so long may be sent again. Not before: a slow one would send the same many times. */
const lostMs = 600_000;

const unheard = (ms: number): SendResult => ({ kind: 'retry', why: `nothing has been heard of it for ${ms / 1000} s` });

export function openOutbox(store: Store, lines: Lines, log: Log): Outbox {
  /** Never rejects. */
  async function attempt(run: Run, delivery: Delivery): Promise<SendResult> {
    try {
      return (await run.call(SendDelivery, delivery)) ?? nobody(delivery.route);
    } catch (error) {
      return { kind: 'retry', why: isCoded(error) ? `${error.code}: ${error.message}` : messageOf(error) };
    }
  }

  /** False where it has its end already. Insists: else it would be sent twice. */
  const settle = (tried: Delivery, result: SendResult) => store.insist((t) => settleRow(t, tried.id, result, tried.attempt, Date.now()));

  /** An end that is heard of late is its end all the same: it is not sent again. */
  async function endLate(tried: Delivery, sending: Promise<SendResult>) {
    const result = await sending;
    if (result.kind !== 'retry' && (await settle(tried, result))) lines.forget(tried.id);
  }

  async function send(tried: Delivery, sending: Promise<SendResult>): Promise<{ readonly result: SendResult; readonly again?: number }> {
    if ((await soon(sending, patienceMs)) === undefined) await settle(tried, unheard(patienceMs)); // for who looks at the list
    const heard = await soon(sending, lostMs - patienceMs);
    if (!heard) void endLate(tried, sending).catch((error) => log.error('the end of a slow delivery could not be noted', { error }));
    const sent = heard ?? unheard(lostMs);
    const again = backoff[tried.attempt - 1];
    const result: SendResult = sent.kind === 'retry' && again === undefined ? { kind: 'failed', why: sent.why } : sent;
    if (!(await settle(tried, result)))
      return { result: { kind: 'failed', why: 'it was dropped by hand, or an earlier attempt ended it' } };
    if (result.kind === 'failed') log.error(`delivery to ${tried.route} failed: ${result.why}`, { itemId: tried.itemId });
    return { result, ...(result.kind === 'retry' && again !== undefined && { again }) };
  }

  async function sendInLine(run: Run, delivery: Delivery): Promise<SendResult> {
    const tried = { ...delivery, attempt: delivery.attempt + 1 };
    let again: number | undefined;
    try {
      const sent = await send(tried, attempt(run, delivery));
      again = sent.again;
      return sent.result;
    } finally {
      if (again === undefined) lines.leave(delivery);
      else lines.again(tried, again);
    }
  }

  async function deliver(run: Run, delivery: Delivery): Promise<SendResult> {
    if (!lines.enter(delivery)) return { kind: 'retry', why: 'an earlier answer to the same place goes first' };
    const sending = sendInLine(run, delivery);
    const result = await soon(sending, patienceMs);
    if (!result) sending.catch((error) => log.error('a delivery broke; its row waits for the next start', { error }));
    return result ?? unheard(patienceMs);
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

/** What it settles to, or undefined once that takes longer. */
async function soon<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), ms).unref();
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

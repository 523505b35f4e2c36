import { isCoded, type Log, messageOf, type Run } from '../../kernel/index.ts';
import { Events } from '../events/contract.ts';
import { Inbox, type InboxItem } from '../inbox/contract.ts';
import { Outbox } from '../outbox/contract.ts';
import type { Usage } from '../sessions/contract.ts';
import { Store } from '../store/contract.ts';
import type { TurnOutcome } from './contract.ts';
import { runTurn } from './turn.ts';

const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

/**
 * Takes one item to its end, whatever happens. The order of writes is the contract (DESIGN 4): user entry, …, final
 * entry, then one transaction {inbox done, outbox row}. A restart reads the transcript and finishes the missing step.
 */
export async function takeItem(item: InboxItem, run: Run, log: Log): Promise<void> {
  const began = performance.now();
  const again = item.attempt > 1;
  if (again && item.volatile && !item.idempotencyKey) return cancel(item, run);
  const outcome = await outcomeOf(item, run, log);
  const state = outcome.stopReason === 'aborted' ? 'cancelled' : outcome.error ? 'failed' : 'done';
  const { payloads, usage, stopReason, error } = outcome;
  const meta = { runId: run.id, usage, stopReason, ...(error && { error }) };
  const answer = { route: item.route, sessionKey: item.sessionKey, itemId: item.itemId, payloads, meta };
  // Until there is room for it the lane waits: nothing may follow a turn that has no end.
  const delivery = await run.get(Store).insist(async (t) => {
    await run.get(Inbox).finish(t, item.itemId, state, run.id);
    return run.get(Outbox).put(t, answer);
  }, run.signal);
  const data = { itemId: item.itemId, stopReason, usage, payloads, ms: Math.round(performance.now() - began), ...(error && { error }) };
  run.find(Events)?.publish({ type: 'agent_end', sessionKey: item.sessionKey, runId: run.id, data });
  await run.get(Outbox).deliver(run, delivery);
}

/** Nobody waits for it any more: the connection that asked died with the last process. */
async function cancel(item: InboxItem, run: Run) {
  await run.get(Store).tx((t) => run.get(Inbox).finish(t, item.itemId, 'cancelled', run.id));
}

async function outcomeOf(item: InboxItem, run: Run, log: Log): Promise<TurnOutcome> {
  try {
    const outcome = await runTurn(item, run);
    if (outcome.error)
      log.warn(`turn ${run.id} failed: ${outcome.error.message}`, { ...outcome.error, itemId: item.itemId, runId: run.id });
    return outcome;
  } catch (cause) {
    const code = isCoded(cause) ? cause.code : 'TURN_FAILED';
    if (run.signal.aborted) return { payloads: [], usage: noUsage, stopReason: 'aborted' };
    log.error(`turn ${run.id} failed: ${messageOf(cause)}`, { error: cause, itemId: item.itemId, runId: run.id });
    const text = `${messageOf(cause)} [${code}, ${run.id}]`;
    return { payloads: [{ text, isError: true }], usage: noUsage, stopReason: 'error', error: { code, message: messageOf(cause) } };
  }
}

import { type Log, messageOf, type Run } from '../../kernel/index.ts';
import { type Claim, Inbox, type InboxItem } from '../inbox/contract.ts';
import { Store } from '../store/contract.ts';
import type { TurnOutcome } from './contract.ts';
import { endItems } from './ending.ts';
import { brokenOutcome, noUsage } from './outcomes.ts';
import { runTurn } from './turn.ts';

/**
 * Takes one item, and what joins it, to its end, whatever happens. The order of writes is the contract (DESIGN 4): user
 * entry, …, final entry, then one transaction {inbox done, outbox row}. A restart reads the transcript and finishes the
 * missing step.
 */
export async function takeItem(item: InboxItem, run: Run, log: Log, claim: Claim): Promise<void> {
  const began = performance.now();
  const again = item.attempt > 1;
  if (again && item.volatile && !item.idempotencyKey) return cancel(item, run);
  const outcome = await outcomeOf(item, run, log, claim);
  const { deliver } = await endItems(claim.items, outcome, run, performance.now() - began);
  claim.free();
  await deliver();
}

/** Nobody waits for it any more: the connection that asked died with the last process. */
async function cancel(item: InboxItem, run: Run) {
  await run.get(Store).tx((t) => run.get(Inbox).finish(t, item.itemId, 'cancelled', run.id));
}

async function outcomeOf(item: InboxItem, run: Run, log: Log, claim: Claim): Promise<TurnOutcome> {
  try {
    const outcome = await runTurn(item, run, claim, log);
    if (outcome.error)
      log.warn(`turn ${run.id} failed: ${outcome.error.message}`, { ...outcome.error, itemId: item.itemId, runId: run.id });
    return outcome;
  } catch (cause) {
    if (run.signal.aborted) return { payloads: [], usage: noUsage, stopReason: 'aborted' };
    log.error(`turn ${run.id} failed: ${messageOf(cause)}`, { error: cause, itemId: item.itemId, runId: run.id });
    return brokenOutcome(cause, run);
  }
}

import type { Run } from '../../kernel/index.ts';
import { Events } from '../events/contract.ts';
import { Inbox, type InboxItem } from '../inbox/contract.ts';
import { type Delivery, Outbox } from '../outbox/contract.ts';
import { Store } from '../store/contract.ts';
import type { TurnOutcome } from './contract.ts';
import { noUsage } from './outcomes.ts';

/**
 * One transaction {inbox done, outbox row} for all that one turn answered. The answer is sent once, to the newest of them;
 * the others keep it under their own name, without the usage, which is counted once.
 */
export async function endItems(items: readonly InboxItem[], outcome: TurnOutcome, run: Run, ms = 0) {
  const { payloads, usage, stopReason, error, ended, messaging } = outcome;
  const more = { ...(ended && { ended }), ...messaging };
  const state = stopReason === 'aborted' ? 'cancelled' : error ? 'failed' : 'done';
  const newest = items.at(-1) as InboxItem;
  const answers = items.map(({ route, sessionKey, itemId }) => {
    const joins = itemId === newest.itemId ? undefined : newest.itemId;
    const meta = {
      runId: run.id,
      usage: joins ? noUsage : usage,
      stopReason,
      durationMs: Math.round(ms),
      ...(error && { error }),
      ...more,
      ...(joins && { joins }),
    };
    return { answer: { route, sessionKey, itemId, payloads, meta }, joins };
  });
  // Until there is room for it the lane waits: nothing may follow a turn that has no end.
  const delivery = await run.get(Store).insist(async (t) => {
    let sent: Delivery | undefined;
    for (const { answer, joins } of answers) {
      await run.get(Inbox).finish(t, answer.itemId, state, run.id);
      sent = await run.get(Outbox).put(t, answer, joins);
    }
    return sent as Delivery;
  }, run.signal);
  for (const { answer } of answers.toReversed()) {
    const { itemId, meta, sessionKey } = answer;
    const { runId, durationMs, ...facts } = meta;
    run.find(Events)?.publish({ type: 'agent_end', sessionKey, runId, data: { itemId, payloads, ms: durationMs, ...facts } });
  }
  return { deliver: () => run.get(Outbox).deliver(run, delivery) };
}

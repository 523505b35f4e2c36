import type { Run } from '../../kernel/index.ts';
import { Events } from '../events/contract.ts';
import { Inbox, type InboxItem } from '../inbox/contract.ts';
import { type Delivery, Outbox } from '../outbox/contract.ts';
import { Store } from '../store/contract.ts';
import type { TurnOutcome } from './contract.ts';
import { noUsage } from './outcomes.ts';

/** Who waits for an answer is not told of a wait that is soon over. */
const patienceMs = 2000;

/**
 * One transaction {inbox done, outbox row} for all that one turn answered. The answer is sent once, to the newest of them;
 * the others keep it under their own name, without the usage, which is counted once.
 */
export async function endItems(items: readonly InboxItem[], outcome: TurnOutcome, run: Run, ms = 0) {
  const { payloads, usage, stopReason, error, ended, messaging, waitedMs } = outcome;
  const more = { ...(ended && { ended }), ...messaging, ...(waitedMs !== undefined && { waitedMs }) };
  const state = stateOf(stopReason, error !== undefined);
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
  const write = run.get(Store).insist(async (t) => {
    let sent: Delivery | undefined;
    for (const { answer, joins } of answers) {
      await run.get(Inbox).finish(t, answer.itemId, state, run.id);
      sent = await run.get(Outbox).put(t, answer, joins);
    }
    return sent as Delivery;
  });
  const delivery = await inSight(write, run, newest.sessionKey);
  for (const { answer } of answers.toReversed()) {
    const { itemId, meta, sessionKey } = answer;
    const { runId, durationMs, ...facts } = meta;
    run.find(Events)?.publish({ type: 'agent_end', sessionKey, runId, data: { itemId, payloads, ms: durationMs, ...facts } });
  }
  return { deliver: () => run.get(Outbox).deliver(run, delivery) };
}

function stateOf(stopReason: string, isFailed: boolean) {
  if (stopReason === 'aborted') return 'cancelled';
  if (stopReason === 'refused') return 'refused';
  return isFailed ? 'failed' : 'done';
}

/** Who waits for the answer is told where it takes long. */
async function inSight<T>(write: Promise<T>, run: Run, sessionKey: string): Promise<T> {
  const data = { message: 'the end of the turn cannot be written: its answer waits for room in the state folder' };
  const tell = () => run.find(Events)?.publish({ type: 'turn_waiting', sessionKey, runId: run.id, data });
  const timer = setTimeout(tell, patienceMs);
  try {
    return await write;
  } finally {
    clearTimeout(timer);
  }
}

import { setTimeout as pause } from 'node:timers/promises';
import { KernelError } from '../../kernel/index.ts';
import type { TurnEvents } from '../chat/contract.ts';
import type { LiveEvent } from '../events/contract.ts';
import type { Delivery, Payload } from '../outbox/contract.ts';
import type { Client } from './client.ts';
import type { Told, TurnView } from './turn.ts';

/** What is known of the turn over all connections. */
export interface Heard {
  /** Of the newest event that was taken for what it is: what only came is replayed. */
  cursor?: string;
  /** The message may have reached the gateway. */
  isSent?: boolean;
  runId?: string | undefined;
  model?: string;
}

/** Follows one item in the events of its session. Those that come before its id is known wait for that. */
export function openTurn(client: Client, sessionKey: string, view: TurnView, heard: Heard) {
  const { promise: ended, resolve, reject } = Promise.withResolvers<Omit<Told, 'sessionKey' | 'agentId' | 'itemId'>>();
  ended.catch(() => {}); // a call that fails for the same reason is the one that tells
  const early: LiveEvent[] = [];
  let itemId: string | undefined;
  let [isUnderWay, isStartMissed, isOver] = [false, false, false];
  const take = (event: LiveEvent) => {
    if (isOver) return;
    heard.cursor = event.cursor;
    if (event.type === 'missed') {
      missed().catch(() => {}); // lost: then the next connection tells
      return;
    }
    const { type, data } = event as { type: keyof TurnEvents; data: { itemId?: string } };
    const isOurs = data.itemId === itemId;
    if (isOurs && type === 'agent_start') Object.assign(heard, { runId: event.runId, model: (data as TurnEvents['agent_start']).model });
    if (isStartMissed) heard.runId ??= event.runId; // one turn at a time runs in a session
    const isOfTurn = event.runId !== undefined && event.runId === heard.runId;
    if (isOfTurn || type.startsWith('approval_') || (isOurs && type === 'agent_end')) view[type]?.(data as never);
    if (!isOurs || type !== 'agent_end') return;
    isOver = true;
    const { payloads, stopReason, usage, error, ms } = data as unknown as TurnEvents['agent_end'];
    const { runId, model } = heard;
    const notes = error ? [] : notesOf(payloads);
    const more = { ...(error && { error }), ...(notes.length && { notes }), ...(runId && { runId }), ...(model && { model }) };
    resolve({ text: textOf(payloads), stopReason, usage, ms, ...more });
  };
  const tell = ({ payloads, meta }: Delivery, id: string) => {
    itemId = id;
    early.length = 0;
    const { runId, durationMs, ...facts } = meta as { readonly runId?: string; readonly durationMs?: number };
    heard.runId = runId;
    take({ cursor: '', type: 'agent_end', sessionKey, ...(runId && { runId }), data: { itemId, payloads, ms: durationMs, ...facts } });
  };
  /** Its end may be among what was missed. */
  const missed = async () => {
    const { delivery } = await client.call<Stored>('chat.result', { itemId });
    if (delivery && itemId !== undefined) tell(delivery, itemId);
  };
  const hear = (event: LiveEvent) => {
    if (event.sessionKey !== sessionKey && event.type !== 'missed') return;
    if (itemId === undefined) early.push(event);
    else take(event);
  };
  const stopListening = client.listen(hear);
  client.lost.addEventListener('abort', () => reject(client.lost.reason));
  return {
    ended,
    /** `isWhole`: it is the process that we heard before, and what we missed of it was replayed. */
    async catchUp(id: string, isWhole: boolean) {
      if (!isWhole) heard.runId = undefined;
      const { state, delivery, cursor } = await storedAnswer(client, id);
      if (delivery) return tell(delivery, id);
      isUnderWay = state === 'running';
      if (!isUnderWay || isWhole) return;
      isStartMissed = true;
      await client.call('events.stop');
      early.length = 0; // it is replayed, from where the turn has got to
      await client.call('events.watch', { sessionKey, after: cursor });
    },
    claim(id: string) {
      itemId = id;
      for (const event of early.splice(0)) take(event);
    },
    /** What runs in the session may be another's turn: only a turn that began is ours to stop. */
    stop() {
      const left = 'it still waits for its turn, and will be answered in its session';
      if (!heard.runId && !isUnderWay) reject(new KernelError('CLI_LEFT', left));
      else client.call('chat.stop', { sessionKey }).catch(() => {}); // lost: then so is the turn
    },
    [Symbol.dispose]: stopListening,
  };
}

interface Stored {
  readonly state: string;
  readonly delivery?: Delivery;
  readonly cursor?: string;
}

/** One that neither waits nor runs and has no answer may just have been between two of these. */
async function storedAnswer(client: Client, itemId: string): Promise<Stored> {
  for (let unknown = 0; unknown < 3; unknown++) {
    const stored = await client.call<Stored>('chat.result', { itemId });
    if (stored.delivery || stored.state !== 'unknown') return stored;
    await pause(500);
  }
  throw new KernelError('CLI_NO_ANSWER', 'the gateway was ended in mid-turn and kept no answer; send the message again');
}

/** What a person reads of the answer. */
export const textOf = (payloads: readonly Payload[]) =>
  payloads
    .filter((payload) => !payload.isReasoning && !payload.isError)
    .flatMap((payload) => payload.text ?? [])
    .join('\n\n');

/** What is said beside an answer, such as that it was cut. Of a failed turn it is its error, which is told by itself. */
export const notesOf = (payloads: readonly Payload[]): readonly string[] =>
  payloads.flatMap(({ text, isError }) => (isError && text ? [text] : []));

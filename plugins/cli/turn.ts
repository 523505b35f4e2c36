import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isCoded, KernelError } from '../../kernel/index.ts';
import type { TurnEvents } from '../chat/contract.ts';
import type { LiveEvent } from '../events/contract.ts';
import type { Delivery, Payload } from '../outbox/contract.ts';
import { agentOfKey, sessionKey as keyOf, type Usage } from '../sessions/contract.ts';
import type { Client } from './client.ts';
import type { Link } from './link.ts';

export interface Ask {
  readonly text: string;
  readonly agent?: string | undefined;
  readonly session?: string | undefined;
  readonly model?: string | undefined;
}

export interface Told {
  readonly text: string;
  readonly sessionKey: string;
  readonly agentId: string;
  readonly itemId: string;
  readonly runId?: string;
  readonly model?: string;
  readonly stopReason: string;
  readonly usage?: Usage;
  readonly ms?: number;
  readonly error?: { readonly code: string; readonly message: string };
}

/** Shown a turn as it happens. */
export type TurnView = { readonly [T in keyof TurnEvents]?: (data: TurnEvents[T]) => void };

/** One turn to its end. A change of the gateway does not end it: by its key, a second sending is the same item. */
export async function takeTurn(link: Link, ask: Ask, view: TurnView = {}, signal?: AbortSignal): Promise<Told> {
  const idempotencyKey = randomUUID();
  for (let attempt = 1; ; attempt++) {
    const client = await link.client();
    try {
      return await follow(client, { ...ask, idempotencyKey, again: attempt > 1, signal }, view);
    } catch (error) {
      if (!isCoded(error) || !movedOn.has(error.code) || attempt >= 10) throw error;
    }
  }
}

const movedOn = new Set(['CLI_LOST', 'NOT_LIVE']);

interface Sending extends Ask {
  readonly idempotencyKey: string;
  readonly again: boolean;
  /** Stops the turn, whose end then tells. */
  readonly signal: AbortSignal | undefined;
}

async function follow(client: Client, sending: Sending, view: TurnView): Promise<Told> {
  const { text, model, idempotencyKey, again, signal } = sending;
  const { agentId, sessionKey } = await addressOf(client, sending);
  using turn = openTurn(client, sessionKey, view);
  const stop = () => turn.stop();
  signal?.addEventListener('abort', stop);
  try {
    await client.call('events.watch', { sessionKey });
    if (signal?.aborted) throw new KernelError('CLI_STOPPED', 'stopped before anything was sent');
    const message = { text, sessionKey, agentId, idempotencyKey, ...(model && { model }) };
    const { itemId } = await client.call<{ itemId: string }>('chat.send', message);
    turn.claim(itemId);
    const address = { sessionKey, agentId, itemId };
    // Sent before, through a gateway that left: it may have been answered meanwhile.
    const stored = again ? await storedAnswer(client, itemId) : undefined;
    return stored ? storedAs(stored, address) : { ...address, ...(await turn.ended) };
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/** Follows one item in the events of its session. Those that come before its id is known wait for that. */
function openTurn(client: Client, sessionKey: string, view: TurnView) {
  const { promise: ended, resolve, reject } = Promise.withResolvers<Omit<Told, 'sessionKey' | 'agentId' | 'itemId'>>();
  ended.catch(() => {}); // a call that fails for the same reason is the one that tells
  const early: LiveEvent[] = [];
  let itemId: string | undefined;
  let runId: string | undefined;
  let model: string | undefined;
  const take = (event: LiveEvent) => {
    const { type, data } = event as { type: keyof TurnEvents; data: { itemId?: string } };
    const isOurs = data.itemId === itemId;
    if (isOurs && type === 'agent_start') ({ runId, model } = { runId: event.runId, ...(data as TurnEvents['agent_start']) });
    if (event.runId === runId || type.startsWith('approval_') || (isOurs && type === 'agent_end')) view[type]?.(data as never);
    if (!isOurs || type !== 'agent_end') return;
    const { payloads, stopReason, usage, error, ms } = data as unknown as TurnEvents['agent_end'];
    const facts = { stopReason, usage, ms, ...(error && { error }), ...(runId && { runId }), ...(model && { model }) };
    resolve({ text: textOf(payloads), ...facts });
  };
  const hear = (event: LiveEvent) => (itemId === undefined ? early.push(event) : take(event));
  const stopListening = client.listen((event) => event.sessionKey === sessionKey && hear(event));
  client.lost.addEventListener('abort', () => reject(client.lost.reason));
  return {
    ended,
    claim(id: string) {
      itemId = id;
      for (const event of early) take(event);
    },
    /** What runs in the session may be another's turn: only a turn that began is ours to stop. */
    stop() {
      const left = 'it still waits for its turn, and will be answered in its session';
      if (!runId) reject(new KernelError('CLI_LEFT', left));
      else client.call('chat.stop', { sessionKey }).catch(() => {}); // lost: then so is the turn
    },
    [Symbol.dispose]: stopListening,
  };
}

/** The session must be known before it is written to, so that no event of it is missed. */
export async function addressOf(client: Client, { agent, session = 'main' }: Omit<Ask, 'text'>) {
  const agentId = agent ?? agentOfKey(session) ?? (await client.call<{ defaultId: string }>('agents.list')).defaultId;
  const owner = agentOfKey(session);
  if (owner && owner !== agentId) {
    throw new KernelError('CLI_SESSION', `session "${session}" belongs to agent "${owner}", not to "${agentId}"; leave --agent out`);
  }
  return { agentId, sessionKey: keyOf(agentId, session) };
}

interface Stored {
  readonly state: string;
  readonly delivery?: Delivery;
}

/** Undefined while the item waits or runs. One that is in neither state may just have been between two. */
async function storedAnswer(client: Client, itemId: string): Promise<Delivery | undefined> {
  for (let unknown = 0; unknown < 3; unknown++) {
    const { state, delivery } = await client.call<Stored>('chat.result', { itemId });
    if (delivery || state !== 'unknown') return delivery;
    await pause(500);
  }
  throw new KernelError('CLI_NO_ANSWER', 'the gateway was ended in mid-turn and kept no answer; send the message again');
}

function storedAs({ payloads, meta }: Delivery, address: Pick<Told, 'sessionKey' | 'agentId' | 'itemId'>): Told {
  const { stopReason = 'stop', usage, error } = meta as Partial<Told>;
  return { text: textOf(payloads), ...address, stopReason, ...(usage && { usage }), ...(error && { error }) };
}

/** What a person reads of the answer. */
export const textOf = (payloads: readonly Payload[]) =>
  payloads
    .filter((payload) => !payload.isReasoning && !payload.isError)
    .flatMap((payload) => payload.text ?? [])
    .join('\n\n');

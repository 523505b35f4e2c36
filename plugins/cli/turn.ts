import { randomUUID } from 'node:crypto';
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
  const ended = Promise.withResolvers<Told>();
  const early: LiveEvent[] = [];
  let itemId: string | undefined;
  let runId: string | undefined;
  let started: TurnEvents['agent_start'] | undefined;
  const take = (event: LiveEvent) => {
    if (itemId === undefined) {
      early.push(event);
      return;
    }
    const { type, data } = event as { type: keyof TurnEvents; data: { itemId?: string; question?: unknown } };
    if (type === 'agent_start' && data.itemId === itemId) {
      runId = event.runId;
      started = data as TurnEvents['agent_start'];
    }
    if (event.runId === runId || type.startsWith('approval_')) view[type]?.(data as never);
    if (type !== 'agent_end' || data.itemId !== itemId) return;
    const told = data as unknown as TurnEvents['agent_end'];
    const { stopReason, usage, error, ms, payloads } = told;
    const facts = { stopReason, usage, ms, ...(error && { error }), ...(started && { model: started.model }) };
    ended.resolve({ text: textOf(payloads), sessionKey, agentId, itemId, ...(runId && { runId }), ...facts });
  };
  const stopListening = client.listen((event) => event.sessionKey === sessionKey && take(event));
  const stopTurn = () => void client.call('chat.stop', { sessionKey }).catch(() => {}); // lost: then so is the turn
  signal?.addEventListener('abort', stopTurn);
  client.lost.addEventListener('abort', () => ended.reject(client.lost.reason));
  ended.promise.catch(() => {}); // a call that fails for the same reason is the one that tells
  try {
    await client.call('events.watch', { sessionKey });
    const sent = await client.call<{ itemId: string }>('chat.send', { text, sessionKey, agentId, idempotencyKey, ...(model && { model }) });
    itemId = sent.itemId;
    for (const event of early) take(event);
    // Sent before, through a gateway that left: it may have been answered meanwhile.
    const stored = again ? await client.call<Stored>('chat.result', { itemId }) : undefined;
    if (stored?.delivery) return storedAs(stored.delivery, { sessionKey, agentId, itemId });
    return await ended.promise;
  } finally {
    stopListening();
    signal?.removeEventListener('abort', stopTurn);
  }
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

function storedAs({ payloads, meta }: Delivery, address: Pick<Told, 'sessionKey' | 'agentId' | 'itemId'>): Told {
  const { stopReason = 'stop', usage, error } = meta as Partial<Told>;
  return { text: textOf(payloads), ...address, stopReason, ...(usage && { usage }), ...(error && { error }) };
}

/** What a person reads of the answer. */
const textOf = (payloads: readonly Payload[]) =>
  payloads
    .filter((payload) => !payload.isReasoning && !payload.isError)
    .flatMap((payload) => payload.text ?? [])
    .join('\n\n');

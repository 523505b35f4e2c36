import { randomUUID } from 'node:crypto';
import { isCoded, KernelError } from '../../kernel/index.ts';
import { longestText, type TurnEvents } from '../chat/contract.ts';
import { agentOfKey, sessionKey as keyOf, type Usage } from '../sessions/contract.ts';
import type { Client } from './client.ts';
import { type Heard, openTurn } from './following.ts';
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
  /** What is said beside an answer, such as that it was cut. */
  readonly notes?: readonly string[];
}

/** Shown a turn as it happens. `again`: the connection was lost and stands again; some of what was shown may come once more. */
export type TurnView = { readonly [T in keyof TurnEvents]?: (data: TurnEvents[T]) => void } & { readonly again?: () => void };

/** One turn to its end. A change of the gateway does not end it: by its key, a second sending is the same item. */
export async function takeTurn(link: Link, ask: Ask, view: TurnView = {}, signal?: AbortSignal): Promise<Told> {
  if (ask.text.length > longestText) throw tooLong(ask.text);
  const idempotencyKey = randomUUID();
  const heard: Heard = {};
  for (let attempt = 1; ; attempt++) {
    const client = await link.client();
    try {
      return await follow(client, { ...ask, idempotencyKey, again: attempt > 1, signal }, view, heard);
    } catch (error) {
      if (!isCoded(error) || !movedOn.has(error.code) || attempt >= 10) throw error;
    }
  }
}

const movedOn = new Set(['CLI_LOST', 'NOT_LIVE']);

const tooLong = ({ length }: string) =>
  new KernelError('CLI_TOO_LARGE', `the text has ${length} characters, and ${longestText} are taken; put it into a file and name that`);

interface Sending extends Ask {
  readonly idempotencyKey: string;
  readonly again: boolean;
  /** Stops the turn, whose end then tells. */
  readonly signal: AbortSignal | undefined;
}

async function follow(client: Client, sending: Sending, view: TurnView, heard: Heard): Promise<Told> {
  const { text, model, idempotencyKey, again, signal } = sending;
  const { agentId, sessionKey } = await addressOf(client, sending);
  const before = heard.cursor;
  using turn = openTurn(client, sessionKey, view, heard);
  const stop = () => turn.stop();
  signal?.addEventListener('abort', stop);
  try {
    const { cursor, missed } = await client.call<{ cursor?: string; missed?: boolean }>('events.watch', {
      sessionKey,
      ...(before && { after: before }),
    });
    if (signal?.aborted && !heard.isSent) throw new KernelError('CLI_STOPPED', 'stopped before anything was sent');
    const message = { text, sessionKey, agentId, idempotencyKey, ...(model && { model }) };
    heard.isSent = true;
    const { itemId } = await client.call<{ itemId: string }>('chat.send', message);
    if (again) view.again?.();
    // Sent before, through a connection that is gone: it may have begun meanwhile, or have been answered.
    if (again) await turn.catchUp(itemId, processOf(before) === processOf(cursor) && !missed);
    turn.claim(itemId);
    if (signal?.aborted) stop();
    return { sessionKey, agentId, itemId, ...(await turn.ended) };
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/** Which process of the gateway numbered an event. */
const processOf = (cursor = '') => cursor.split('.', 1)[0];

/** The session must be known before it is written to, so that no event of it is missed. */
export async function addressOf(client: Client, { agent, session = 'main' }: Omit<Ask, 'text'>) {
  const agentId = agent ?? agentOfKey(session) ?? (await client.call<{ defaultId: string }>('agents.list')).defaultId;
  const owner = agentOfKey(session);
  if (owner && owner !== agentId) {
    throw new KernelError('CLI_SESSION', `session "${session}" belongs to agent "${owner}", not to "${agentId}"; leave --agent out`);
  }
  return { agentId, sessionKey: keyOf(agentId, session) };
}

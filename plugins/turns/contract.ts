import { type Content, service, type Run, type Runtime, waterfall } from '../../kernel/index.ts';
import type { InboxItem } from '../inbox/contract.ts';
import type { Model } from '../models/contract.ts';
import type { AssistantMessage, Message, Provenance, Usage } from '../sessions/contract.ts';
import type { Payload } from '../outbox/contract.ts';

/** Facts of the turn a run belongs to: `run.get(Turn)`. What a tool may ask (SPEC 2.4). */
export interface Turn {
  readonly runId: string;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly itemId: string;
  readonly trigger: 'user' | 'heartbeat' | 'cron' | 'subagent' | 'system';
  /** Absolute. */
  readonly workspace: string;
  readonly model: Model;
}
export const Turn = service<Turn>('turn');

/** One message on its way into a turn. */
export interface Incoming {
  readonly content: string | readonly Content[];
  readonly sessionKey: string;
  readonly provenance: Provenance;
  /** Why it is refused: what its sender is told in place of an answer. */
  readonly refused?: string;
}

/**
 * Asked of each message, by whichever door it came, before a transcript or a model sees it: rewrite `content`, or set
 * `refused`. `run.subject` tells agent, channel and sender. Asked as well of the user's messages in a history that a
 * stateless client sends along: one of those, refused, gives way to a note. A throw fails the turn. The inbox's row, which survives crashes, keeps what came for a week.
 */
export const AdmitMessage = waterfall<Incoming>('turn.admit');

export interface TurnInput {
  readonly turn: Turn;
  readonly system: string;
  /** Up to and including the message to answer. */
  readonly history: readonly Message[];
  /** Every message the turn makes is appended here before it goes on. `id` names what was announced as `message_start`. */
  readonly append: (message: Message, id?: string) => Promise<void>;
  readonly emit: (type: string, data: Readonly<Record<string, unknown>>) => void;
}

export interface TurnOutcome {
  readonly payloads: readonly Payload[];
  readonly usage: Usage;
  readonly stopReason: string;
  /** `status` where an HTTP answer of the model's side told it. */
  readonly error?: { readonly code: string; readonly message: string; readonly status?: number };
  readonly final?: AssistantMessage;
}

export type TurnRuntime = Runtime<TurnInput, TurnOutcome>;

/** Runs one claimed item to its end. Provided by `turns`, called by the lanes of `inbox`. */
export interface Turns {
  take(item: InboxItem, run: Run): Promise<void>;
}
export const Turns = service<Turns>('turns');

/** A reply that is this and nothing else means: say nothing. It stays in the transcript and reaches nobody. */
export const silentToken = 'NO_REPLY';

/** SPEC 6.2: what a person is sent of a reply. */
export function payloadsOf(message: AssistantMessage): readonly Payload[] {
  const text = message.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return text.trim() && text.trim() !== silentToken ? [{ text }] : [];
}

import { bail, type Content, service, type Run, type Runtime, waterfall } from '../../kernel/index.ts';
import type { Claim, InboxItem } from '../inbox/contract.ts';
import type { MissingModel, Model, ModelFailure, ToolSpec } from '../models/contract.ts';
import type { AssistantMessage, Message, Provenance, Usage } from '../sessions/contract.ts';
import type { Payload } from '../outbox/contract.ts';

export { hasDelivered } from './contract/delivered.ts';

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
  /** Where a child of this turn works, if that is another folder: the agent's own, while `workspace` is its sandbox's. */
  readonly spawnWorkspace?: string;
  readonly model: Model;
  /** It was asked for by name: no other may answer in its place without a word. */
  readonly modelAsked?: boolean;
  /** In whose place `model` is from the start: what the config names first cannot be had. */
  readonly modelMissing?: MissingModel;
}
export const Turn = service<Turn>('turn');

/**
 * The time that a turn works, as its deadlines count it. It stands still while the turn waits for others: a person who
 * approves, another session. Of a run that belongs to no turn there is none.
 */
export interface WorkTime {
  /** Calls `late` once after so much work. Returns what calls it off. */
  after(ms: number, late: () => void): () => void;
  /** Of one call among others: what it waits for counts in neither, what another waits for counts here. */
  part(): WorkTime;
  /** The time of `work` is not counted. `Inbox.aside` says so for all who go by it. */
  waits<T>(work: () => Promise<T>): Promise<T>;
}
export const WorkTime = service<WorkTime>('turn.time');

/** One message on its way into a turn. */
export interface Incoming {
  readonly content: string | readonly Content[];
  readonly sessionKey: string;
  readonly provenance: Provenance;
  /** Why it is refused: what its sender is told in place of an answer. */
  readonly refused?: string;
  /** It was a command and was obeyed: what its sender is told. No turn begins, no transcript has it. */
  readonly answered?: string;
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
  /** Asked after each round of tools: messages that join the turn now (SPEC 6.3). They are in the transcript already. */
  readonly steered: () => Promise<readonly Message[]>;
}

export interface TurnOutcome {
  readonly payloads: readonly Payload[];
  readonly usage: Usage;
  readonly stopReason: string;
  /** `status` where an HTTP answer of the model's side told it. */
  readonly error?: { readonly code: string; readonly message: string; readonly status?: number; readonly reason?: string };
  readonly final?: AssistantMessage;
  /** What a stop or a deadline ended, and what it could not end in time. */
  readonly ended?: readonly Ended[];
  /** Where a tool sent something, or added a cron job. */
  readonly messaging?: Messaging;
  /** Milliseconds that the turn waited because all its models rested. */
  readonly waitedMs?: number;
}

/**
 * What a tool sent to somebody itself, told in its result's `details.sent` (one or a list), so that the reply does not
 * repeat it. A tool that adds cron jobs tells how many in `details.cronAdds`; what it made for the user to see or hear, in
 * `details.mediaUrls`: that goes out with the reply.
 */
export interface Sent {
  /** A route (`telegram:42`) or a session's key. */
  readonly target: string;
  readonly texts?: readonly string[];
  readonly mediaUrls?: readonly string[];
}

/** SPEC 6.2: in the answer's `meta` and in `agent_end`. */
export interface Messaging {
  readonly didSendViaMessagingTool: boolean;
  readonly messagingToolSentTexts: readonly string[];
  readonly messagingToolSentMediaUrls: readonly string[];
  readonly messagingToolSentTargets: readonly string[];
  readonly successfulCronAdds: number;
}

/** Something that was at work for a turn when it was told to stop. `left`: it did not stop in time, and may still be at work. */
export interface Ended {
  readonly kind: 'model' | 'tool' | 'child' | (string & {});
  readonly id: string;
  readonly name: string;
  readonly how: 'ended' | 'left';
  readonly why: 'stop' | 'deadline';
}

/** Of a run that was told to end: by whom. */
export const whyOf = ({ reason }: AbortSignal): Ended['why'] => {
  return (reason as { readonly name?: unknown } | undefined)?.name === 'TimeoutError' ? 'deadline' : 'stop';
};

/**
 * Asked at the moment a turn is stopped, or has had its time, not when it ends by itself (SPEC 6.4): whoever runs something in a turn's name
 * beside its tools (children) ends it, and adds what it was. `run.get(Turn)` tells whose it is. What takes longer than
 * four seconds is not waited for.
 */
export const TurnStopped = waterfall<readonly Ended[]>('turn.stopped');

/** A request of a turn that may be, or was, too long for its model. `run.get(Turn)` tells whose. */
export interface CompactAsk {
  /** `budget`: before it is sent. `overflow`: it was refused, with this `failure`. */
  readonly trigger: 'budget' | 'overflow';
  readonly failure?: ModelFailure;
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
}

/** The messages to send instead (the very same: it could not be done), and what it took; or why it cannot be sent at all. */
export type Compacted = { readonly usage?: Usage } & ({ readonly messages: readonly Message[] } | { readonly failure: ModelFailure });

/** Asked before each request of a turn, and after one that was too long. Without an answer the request stays as it is. */
export const CompactTurn = bail<CompactAsk, Compacted>('turn.compact');

export type TurnRuntime = Runtime<TurnInput, TurnOutcome>;

/** Runs one claimed item to its end. Provided by `turns`, called by the lanes of `inbox`. */
export interface Turns {
  take(item: InboxItem, run: Run, claim: Claim): Promise<void>;
  /**
   * Ends items that no turn answers, such as refused ones: rows, event and answer are those of any other end. Settles with
   * the rows; `sent`, which does not reject, once the answer was tried.
   */
  end(items: readonly InboxItem[], outcome: TurnOutcome, run: Run): Promise<{ readonly sent: Promise<void> }>;
}
export const Turns = service<Turns>('turns');

/** A reply that is this and nothing else means: say nothing. It stays in the transcript and reaches nobody. */
export const silentToken = 'NO_REPLY';

/** SPEC 6.2: what a person is sent of a reply. */
export function payloadsOf(message: AssistantMessage): readonly Payload[] {
  const text = textOf(message);
  if (!text.trim() || text.trim() === silentToken) return [];
  return [{ text }];
}

/** Of the reply that is a turn's answer. Half an answer must not look like a whole one. */
export function answerOf(message: AssistantMessage): readonly Payload[] {
  const payloads = payloadsOf(message);
  return payloads.length && message.stopReason === 'length' ? [...payloads, { text: whyCut(message), isError: true }] : payloads;
}

export const textOf = ({ content }: AssistantMessage): string => content.map((part) => (part.type === 'text' ? part.text : '')).join('');

/** Of a reply that the length limit ended: what happened, and what to do. */
export const whyCut = ({ usage }: AssistantMessage): string =>
  `the answer was cut at ${usage.output > 0 ? `${usage.output} tokens` : 'its length limit'}; raise maxTokens: params.maxTokens of the agent, which counts up to maxTokens of the model`;

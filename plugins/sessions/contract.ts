import { service } from '../../kernel/index.ts';
import type { Content } from '../../kernel/index.ts';

export { beginsTurn, joining } from './contract/beginning.ts';
export { faultOfPicture } from './contract/content.ts';
export { isSummary, summaryLead } from './contract/summary.ts';
export { titleFrom } from './contract/title.ts';
export { addUsage } from './contract/usage.ts';

/** Messages in the described system's own form (JSONL `type: "message"` records), so its files are read and continued. */
export interface UserMessage {
  readonly role: 'user';
  readonly content: string | readonly Content[];
  /** Milliseconds since 1970. */
  readonly timestamp: number;
}

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}
export interface ThinkingPart {
  readonly type: 'thinking';
  readonly thinking: string;
  readonly thinkingSignature?: string;
}
export interface ToolCallPart {
  readonly type: 'toolCall';
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly thoughtSignature?: string;
}
export type AssistantPart = TextPart | ThinkingPart | ToolCallPart;

/** Tokens as the provider counted them; `cost` in US dollars where prices are known. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly totalTokens: number;
  readonly cost?: { readonly total: number };
}

export type StopReason = 'stop' | 'length' | 'toolUse' | 'error' | 'aborted';

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: readonly AssistantPart[];
  readonly api: string;
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  readonly stopReason: StopReason;
  readonly errorMessage?: string;
  readonly timestamp: number;
}

export interface ToolResultMessage {
  readonly role: 'toolResult';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: readonly Content[];
  readonly details?: unknown;
  readonly isError: boolean;
  readonly timestamp: number;
}

export type Message = UserMessage | AssistantMessage | ToolResultMessage;

/** The shape that a request is made of, as far as the ways of a request rely on it. Lines of a file may say anything. */
export function isMessage(value: unknown): value is Message {
  const { role, content, toolCallId } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (role === 'user' && typeof content === 'string') return true;
  if (!Array.isArray(content) || !content.every((part) => typeof part?.type === 'string')) return false;
  return role === 'user' || role === 'assistant' || (role === 'toolResult' && typeof toolCallId === 'string');
}

/** SPEC 8.11: where an input came from. */
export interface Provenance {
  readonly kind: 'external_user' | 'inter_session' | 'internal_system';
  readonly channel?: string;
  readonly sourceSessionKey?: string;
  readonly originSessionId?: string;
  readonly tool?: string;
}

/** One line of a transcript. `id` names it; ours carry the inbox item or run they belong to. */
export interface Entry {
  readonly type: 'message';
  readonly id: string;
  readonly parentId: string | null;
  readonly timestamp: string;
  readonly message: Message;
  readonly itemId?: string;
  readonly runId?: string;
  readonly provenance?: Provenance;
  /** The item whose turn took this one in: collected with it, or steered into it. */
  readonly joins?: string;
}

export interface SessionRecord {
  readonly key: string;
  readonly sessionId: string;
  readonly agentId: string;
  readonly title: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly ephemeral: boolean;
}

/** A line that says: from here on the summary stands for all that a model was shown before `firstKeptEntryId`. */
export interface CompactionRecord {
  readonly type: 'compaction';
  readonly id: string;
  readonly parentId: string | null;
  readonly timestamp: string;
  readonly summary: string;
  readonly firstKeptEntryId: string;
  /** About how many the request had. */
  readonly tokensBefore: number;
}

/** What a model is shown, with the record that it comes from. */
export interface ShownMessage {
  readonly entryId: string;
  readonly message: Message;
}

/** The one writer of a session's file: append only; the view in memory grows with what is appended. */
export interface Transcript {
  readonly sessionId: string;
  readonly file: string;
  readonly entries: readonly Entry[];
  /** Returns once the line is in the file (process death does not lose it). `id` where the entry was announced before. */
  append(message: Message, facts?: Partial<Pick<Entry, 'id' | 'itemId' | 'runId' | 'provenance' | 'joins'>>): Promise<Entry>;
  /** What `history` is made of, before pairing is proven. */
  shown(): readonly ShownMessage[];
  /** From now on the history begins with the summary. Nothing that is in the file is touched. */
  compact(facts: Pick<CompactionRecord, 'summary' | 'firstKeptEntryId' | 'tokensBefore'>): Promise<CompactionRecord>;
  /** History fit for a model request: pairing proven, repairs made and written visibly. */
  history(): Promise<readonly Message[]>;
}

export interface Sessions {
  /** The history as far as the model is to be shown it (`session.limitHistoryTurns`). */
  shown(history: readonly Message[]): readonly Message[];
  /** The record under this key, made on first use and marked as used now. The first `title` given stays. */
  ensure(key: string, facts: { readonly agentId: string; readonly ephemeral?: boolean; readonly title?: string }): Promise<SessionRecord>;
  find(key: string): Promise<SessionRecord | undefined>;
  /** Newest first. */
  list(query?: { readonly agentId?: string; readonly limit?: number }): Promise<readonly SessionRecord[]>;
  open(key: string): Promise<Transcript>;
  /** Where the transcript of such a session is kept, whether or not there is one. */
  fileOf(session: Pick<SessionRecord, 'agentId' | 'sessionId'>): Promise<string>;
  /**
   * Takes over a session that was made elsewhere, whose transcript lies at `fileOf` it, or is put there by `place`, which may
   * still refuse. False, and nothing done, where it does, or the key meanwhile names another session than `instead` (undefined: where it names one at all). Who still holds
   * the transcript that was there before can append to it no more (TRANSCRIPT_REPLACED).
   */
  adopt(record: SessionRecord, instead: string | undefined, place?: () => boolean): Promise<boolean>;
  /** `/new`, `/reset`: the key stays, a new sessionId and file begin. */
  reset(key: string): Promise<SessionRecord>;
  /** With its transcript. With a time: only where it was not used since. */
  remove(key: string, unusedSince?: number): Promise<void>;
}

export const Sessions = service<Sessions>('sessions');

/** The values of `session`, for plugins that add fields to it (`extends: { session: … }`). */
export const SessionSettings = service<Readonly<Record<string, unknown>>>('sessions.settings');

/** Ids of transcript entries: short, as the described system's files have them. */
export const newEntryId = (): string => crypto.randomUUID().slice(0, 8);

/** `agent:<agentId>:<rest>`; a key without that head is taken as `<rest>` of the given agent. Lower-cased where the platform is. */
export function sessionKey(agentId: string, rest: string): string {
  return rest.startsWith('agent:') ? rest : `agent:${agentId}:${rest}`;
}

export const agentOfKey = (key: string): string | undefined => /^agent:([^:]+):/.exec(key)?.[1];

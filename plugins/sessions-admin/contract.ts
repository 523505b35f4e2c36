import type { Entry, SessionRecord } from '../sessions/contract.ts';

/**
 * Methods of the gateway, beside those of `chat`:
 *
 * - `sessions.show {sessionKey, last?}` → `Shown`
 * - `sessions.file {sessionKey}` → `{session, file, bytes}`: where the transcript is, for programs on this machine
 * - `sessions.import {dir, dryRun?, replace?, all?, agentId?}` → `ImportReport`
 */
export interface Shown {
  readonly session: SessionRecord;
  readonly file: string;
  /** How many messages the conversation has. */
  readonly messages: number;
  /** The last ones. */
  readonly entries: readonly Entry[];
}

/** Something a person must know, with the line of the transcript that it is about. */
export interface Note {
  readonly line: number;
  readonly text: string;
}

/** `present`: it is here already. `updated`: the source has gone on since. */
export type Outcome = 'added' | 'present' | 'updated' | 'replaced' | 'conflict' | 'failed';

export interface ImportedSession {
  readonly key: string;
  /** The source's transcript. */
  readonly from: string;
  readonly outcome: Outcome;
  /** Why it is not (simply) added. */
  readonly why?: string;
  readonly messages: number;
  readonly compactions: number;
  readonly notes: readonly Note[];
  /** Notes beyond those listed. */
  readonly moreNotes: number;
}

export interface ImportReport {
  readonly dir: string;
  readonly dryRun: boolean;
  readonly sessions: readonly ImportedSession[];
  /** What is wrong with a folder or an index, each with its path. */
  readonly problems: readonly string[];
  /** Transcripts that no index names and that were not asked for. */
  readonly unnamed: number;
}

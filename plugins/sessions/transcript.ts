import { randomUUID } from 'node:crypto';
import type { Log } from '../../kernel/index.ts';
import { type CompactionRecord, type Entry, joining, type Message, newEntryId, type ShownMessage, type Transcript } from './contract.ts';
import { missingResult, openCalls, validHistory } from './repair.ts';
import { shownRecords } from './shown-messages.ts';
import { openTranscriptFile } from './transcript-file.ts';

export interface TranscriptFacts {
  readonly file: string;
  readonly sessionId: string;
  readonly workspace: string;
  readonly log: Log;
}

/** As its owner has it. */
export interface OwnTranscript extends Transcript {
  /** Deletes the file. Who still holds the transcript goes on in memory alone. */
  remove(): void;
  /** Another file was put in its place. Who still holds the transcript can append no more. */
  retire(): void;
}

export function openTranscript({ file, sessionId, workspace, log }: TranscriptFacts): OwnTranscript {
  const header = { type: 'session', version: 3, id: sessionId, timestamp: new Date().toISOString(), cwd: workspace };
  const lines = openTranscriptFile(file, header, log);
  for (const entry of lines.entries) noteJoining(entry);
  let shown: ShownMessage[] = [...shownRecords(lines.branch)];
  let messages = shown.map(({ message }) => message);

  async function append(
    message: Message,
    facts: Partial<Pick<Entry, 'id' | 'itemId' | 'runId' | 'provenance' | 'joins'>> = {},
  ): Promise<Entry> {
    const id = freeId(lines.ids, facts.id);
    const timestamp = new Date(message.timestamp).toISOString();
    const entry: Entry = { type: 'message', ...facts, id, parentId: lines.tip, timestamp, message };
    lines.append(entry);
    noteJoining(entry);
    shown.push({ entryId: id, message });
    messages.push(message);
    return entry;
  }

  let settled: readonly Message[] = [];
  let upTo = 0;
  /** No call reaches over a user's message: what lies before the last one is proven once, however long it is. */
  function proven(): readonly Message[] {
    const last = messages.findLastIndex(({ role }) => role === 'user');
    if (last > upTo) {
      settled = [...settled, ...validHistory(messages.slice(upTo, last))];
      upTo = last;
    }
    return [...settled, ...validHistory(messages.slice(upTo))];
  }

  async function compact(facts: Pick<CompactionRecord, 'summary' | 'firstKeptEntryId' | 'tokensBefore'>): Promise<CompactionRecord> {
    const [id, timestamp] = [freeId(lines.ids), new Date().toISOString()];
    const record: CompactionRecord = { type: 'compaction', id, parentId: lines.tip, timestamp, ...facts };
    lines.append(record);
    shown = [...shownRecords(lines.branch)];
    messages = shown.map(({ message }) => message);
    [settled, upTo] = [[], 0];
    return record;
  }

  return {
    sessionId,
    file,
    append,
    compact,
    shown: () => [...shown],
    entries: lines.entries,
    remove: () => lines.remove(),
    retire: () => lines.retire(),
    async history() {
      const open = openCalls(messages);
      for (const call of open) await append(missingResult(call, Date.now()));
      if (open.length) log.warn(`${file}: ${open.length} tool call(s) had been interrupted; recorded as such`);
      return proven();
    },
  };
}

function noteJoining({ message, joins }: Entry): void {
  if (joins !== undefined && message.role === 'user') joining(message);
}

/** Eight characters are few: one that is taken is made anew. */
function freeId(taken: ReadonlySet<string>, asked = newEntryId()): string {
  let id = asked;
  while (taken.has(id)) id = newEntryId();
  return id;
}

export const newSessionId = () => randomUUID();

/**
 * One object per open transcript, so that there is one writer: held weakly for whoever uses it, and strongly for the
 * last ones used, so that a turn of a known session reads nothing from disk.
 */
export function transcriptCache(kept = 128) {
  const open = new Map<string, WeakRef<OwnTranscript>>();
  const recent = new Map<string, OwnTranscript>();
  const use = (transcript: OwnTranscript) => {
    recent.delete(transcript.sessionId);
    recent.set(transcript.sessionId, transcript);
    const oldest = recent.keys().next().value;
    if (recent.size > kept && oldest) recent.delete(oldest);
    return transcript;
  };
  let bound = 4 * kept;
  /** Only when the map has doubled: what is still referenced is looked at again and again otherwise. */
  const prune = () => {
    for (const [id, ref] of open) if (!ref.deref()) open.delete(id);
    bound = Math.max(4 * kept, 2 * open.size);
  };
  return {
    get(sessionId: string, make: () => OwnTranscript): OwnTranscript {
      const known = open.get(sessionId)?.deref();
      if (known) return use(known);
      if (open.size >= bound) prune();
      const made = make();
      open.set(sessionId, new WeakRef(made));
      return use(made);
    },
    /** Where somebody has it open. */
    known: (sessionId: string): OwnTranscript | undefined => open.get(sessionId)?.deref(),
    forget(sessionId: string) {
      open.delete(sessionId);
      recent.delete(sessionId);
    },
    async [Symbol.asyncDispose]() {
      open.clear();
      recent.clear();
    },
  };
}

export type TranscriptCache = ReturnType<typeof transcriptCache>;

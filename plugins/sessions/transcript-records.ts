import type { Log } from '../../kernel/index.ts';
import { type Entry, isMessage } from './contract.ts';
import type { BranchRecord } from './shown-messages.ts';

/** A line of a transcript: ours, or of the described system, which knows more kinds (compactions, model changes, labels). */
interface TranscriptRecord extends BranchRecord {
  readonly parentId?: unknown;
}

/** What a transcript's text says. */
export interface Read {
  readonly entries: Entry[];
  /** The records in use, of whatever kind, from the first on. */
  readonly branch: BranchRecord[];
  readonly ids: Set<string>;
  /** The id of the last record, of whatever kind: what comes next hangs on it. */
  readonly tip: string | null;
}

/** Entries are messages only; records of other kinds stay in the file untouched. */
export function readRecords(text: string, file: string, log: Log): Read {
  const records = text.split('\n').flatMap((line, i) => recordOf(line, i + 1, file, log));
  const branch = branchOf(records);
  const entries = branch.filter((record) => record.type === 'message' && isMessage(record.message));
  const ids = new Set(records.map(({ id }) => id));
  return { entries: entries as unknown as Entry[], branch, ids, tip: records.at(-1)?.id ?? null };
}

function recordOf(line: string, number: number, file: string, log: Log): readonly TranscriptRecord[] {
  if (!line.trim()) return [];
  try {
    const record = JSON.parse(line) as Partial<TranscriptRecord>;
    if (record.type === 'session') return [];
    return [typeof record.id === 'string' ? (record as TranscriptRecord) : { ...record, id: `line-${number}` }]; // the oldest have none
  } catch {
    log.warn(`${file}:${number}: this line is no JSON and is skipped`);
    return [];
  }
}

/**
 * The way from the last record back to the first: the described system leaves abandoned branches in the file. A parent
 * that is not to be found (its line broke) is taken to be the line before.
 */
function branchOf(records: readonly TranscriptRecord[]): TranscriptRecord[] {
  const places = new Map(records.map(({ id }, place) => [id, place]));
  const branch: TranscriptRecord[] = [];
  for (let place = records.length - 1; place >= 0; ) {
    const record = records[place] as TranscriptRecord;
    branch.push(record);
    if (record.parentId === null) break;
    const parent = places.get(record.parentId as string) ?? place;
    place = parent < place ? parent : place - 1;
  }
  return branch.toReversed();
}

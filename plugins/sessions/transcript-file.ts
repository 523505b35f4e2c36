import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';
import { KernelError, messageOf, type Log } from '../../kernel/index.ts';
import type { CompactionRecord, Entry } from './contract.ts';
import type { BranchRecord } from './shown-messages.ts';
import { readRecords } from './transcript-records.ts';

/** Lines of a transcript as they stand in its file. Synchronous: a line is a few hundred bytes and order is everything. */
export interface TranscriptFile {
  readonly entries: readonly Entry[];
  /** The records in use, of whatever kind, from the first on. */
  readonly branch: readonly BranchRecord[];
  /** Ids that are taken, of records of whatever kind. */
  readonly ids: ReadonlySet<string>;
  /** What the next entry hangs on. */
  readonly tip: string | null;
  append(record: Entry | CompactionRecord): void;
  /** From now on nothing is written: a turn that still runs must not bring back what was deleted. */
  remove(): void;
  /** From now on it refuses: another file lies in its place, which it knows nothing of. */
  retire(): void;
}

/** Reads a transcript once. A torn last line (a crash while writing) is cut off, kept beside the file and reported. */
export function openTranscriptFile(file: string, header: Readonly<Record<string, unknown>>, log: Log): TranscriptFile {
  const bytes = mended(file, read(file), log);
  const { entries, branch, ids, tip: last } = readRecords(bytes.toString('utf8'), file, log);
  let [size, tip, isRemoved, isReplaced] = [bytes.length, last, false, false];

  function write(text: string) {
    try {
      appendFileSync(file, text, { mode: 0o600 });
    } catch (cause) {
      cutOff(file, size, text);
      throw unwritable(file, cause);
    }
    size += Buffer.byteLength(text);
  }

  return {
    entries,
    branch,
    ids,
    get tip() {
      return tip;
    },
    append(record) {
      if (isReplaced) throw replaced(file);
      const line = `${JSON.stringify(record)}\n`;
      if (!isRemoved && size === 0) makeFolder(file);
      if (!isRemoved) write(size > 0 ? line : `${JSON.stringify(header)}\n${line}`);
      branch.push(record);
      if (record.type === 'message') entries.push(record);
      ids.add(record.id);
      tip = record.id;
    },
    remove() {
      isRemoved = true;
      removeTranscriptFile(file);
    },
    retire() {
      isReplaced = true;
    },
  };
}

export function removeTranscriptFile(file: string) {
  for (const path of [file, tornOf(file)]) rmSync(path, { force: true });
}

const replaced = (file: string) =>
  new KernelError('TRANSCRIPT_REPLACED', `${file}: another transcript was put in its place meanwhile, as by an import; try it again`);

const tornOf = (file: string) => `${file}.torn`;

const unwritable = (file: string, cause: unknown) =>
  new KernelError('TRANSCRIPT_UNWRITABLE', `${file}: ${messageOf(cause)}; make room or mend the folder's rights, then send again`, {
    cause,
  });

/** Asked first whether it is there: the usual new session would cost an exception. */
const read = (file: string): Buffer => (existsSync(file) ? readFileSync(file) : Buffer.alloc(0));

function makeFolder(file: string) {
  try {
    if (!existsSync(dirname(file))) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw unwritable(file, cause);
  }
}

/** What a failed write left of its line would swallow the next one. */
function cutOff(file: string, size: number, text: string) {
  try {
    const rest = statSync(file).size - size;
    if (rest > 0 && rest <= Buffer.byteLength(text)) truncateSync(file, size);
  } catch {
    // There is no file, or it may not be changed at all: then nothing of the line is in it.
  }
}

/** By bytes, not characters: a line may be torn within a character, and others may hold what is no text. */
function mended(file: string, bytes: Buffer, log: Log): Buffer {
  const end = bytes.lastIndexOf('\n') + 1;
  const tail = bytes.subarray(end);
  if (tail.length === 0) return bytes;
  try {
    if (isJson(tail.toString('utf8'))) {
      appendFileSync(file, '\n'); // complete, only its line end is missing
      return Buffer.concat([bytes, Buffer.from('\n')]);
    }
    appendFileSync(tornOf(file), Buffer.concat([tail, Buffer.from('\n')]), { mode: 0o600 });
    truncateSync(file, end);
  } catch (cause) {
    throw unwritable(file, cause);
  }
  log.warn(`${file}: the last line was cut off by a crash; it was moved to ${tornOf(file)}`);
  return bytes.subarray(0, end);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';
import { KernelError, messageOf, type Log } from '../../kernel/index.ts';
import type { Entry } from './contract.ts';

/** Lines of a transcript as they stand in its file. Synchronous: a line is a few hundred bytes and order is everything. */
export interface TranscriptFile {
  readonly entries: Entry[];
  append(entry: Entry): void;
}

/** Reads a transcript once. A torn last line (a crash while writing) is cut off, kept beside the file and reported. */
export function openTranscriptFile(file: string, header: Readonly<Record<string, unknown>>, log: Log): TranscriptFile {
  let text = read(file);
  let started = text !== '';
  if (text && !text.endsWith('\n')) text = mendTail(file, text, log);
  const entries = text.split('\n').flatMap((line, i) => parsed(line, `${file}:${i + 1}`, log));
  return {
    entries,
    append(entry) {
      const line = `${JSON.stringify(entry)}\n`;
      if (started) write(file, line);
      else begin(file, `${JSON.stringify(header)}\n${line}`);
      started = true;
      entries.push(entry);
    },
  };
}

/** Asked first whether it is there: the usual new session would cost an exception. */
const read = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

function write(file: string, text: string) {
  try {
    appendFileSync(file, text, { mode: 0o600 });
  } catch (cause) {
    const what = `${file}: ${messageOf(cause)}; make room or mend the folder's rights, then send again`;
    throw new KernelError('TRANSCRIPT_UNWRITABLE', what, { cause });
  }
}

/** A new file, in a folder that is there for all but the first. */
function begin(file: string, text: string) {
  try {
    appendFileSync(file, text, { mode: 0o600 });
  } catch {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    write(file, text); // any other fault shows again here
  }
}

function mendTail(file: string, text: string, log: Log): string {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const tail = text.slice(whole.length);
  try {
    JSON.parse(tail);
    appendFileSync(file, '\n'); // complete, only its line end is missing
    return `${text}\n`;
  } catch {
    appendFileSync(`${file}.torn`, `${tail}\n`, { mode: 0o600 });
    truncateSync(file, Buffer.byteLength(whole));
    log.warn(`${file}: the last line was cut off by a crash; it was moved to ${file}.torn`);
    return whole;
  }
}

/** Only messages are ours to read; records of other kinds stay in the file untouched. */
function parsed(line: string, place: string, log: Log): readonly Entry[] {
  if (!line) return [];
  try {
    const record = JSON.parse(line) as Entry;
    return record.type === 'message' ? [record] : [];
  } catch {
    log.warn(`${place}: this line is no JSON and is skipped`);
    return [];
  }
}

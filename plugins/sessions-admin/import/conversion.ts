import { type Conversation, conversation } from './conversation.ts';
import { type Lineage, lineage } from './lineage.ts';
import { type Line, linesOf, longestLine } from './lines.ts';
import { type NoteList, noteList } from './note-list.ts';
import { type JsonRecord, parsedLine } from './record.ts';

/** A transcript on its way into the form of ours. The same file gives the same lines, always: that is how an import knows what it brought. */
export interface Conversion {
  /** To be read once, to its end; the rest is complete then. */
  readonly lines: AsyncIterable<Buffer>;
  readonly said: Conversation;
  readonly notes: NoteList;
}

const formVersion = 3;

export function convert(file: string, sessionId: string, longest = longestLine): Conversion {
  const said = conversation();
  const notes = noteList();
  return { said, notes, lines: converted(linesOf(file, longest), sessionId, said, notes) };
}

async function* converted(lines: AsyncIterable<Line>, sessionId: string, said: Conversation, notes: NoteList): AsyncGenerator<Buffer> {
  let at: Lineage | undefined;
  const note = (text: string, line: number) => notes.add(text, line);
  for await (const line of lines) {
    const parsed = parsedLine(line);
    if (!parsed) continue;
    if ('broken' in parsed) {
      note(`skipped: ${parsed.broken}`, line.number);
      continue;
    }
    const { record, text, flaw } = parsed;
    if (flaw) note(flaw, line.number);
    const isHeader = record.type === 'session';
    if (!at) {
      if (!isHeader) note('there is no session header; it has one now', line.number);
      yield headerOf(isHeader ? record : { timestamp: record.timestamp }, sessionId, text, note, line.number);
      at = lineage(versionOf(record, isHeader));
      if (isHeader) continue;
    }
    if (isHeader) {
      note('skipped: a second session header', line.number);
      continue;
    }
    const now = current(record);
    said.learn(now, line.number);
    yield lineOf(at.place(now, line.number, note), record, text);
  }
  said.rest(note);
}

/** Records with ids of their own are of a later form, whatever a lost header said. */
const versionOf = (record: JsonRecord, isHeader: boolean) =>
  isHeader ? (typeof record.version === 'number' ? record.version : 1) : typeof record.id === 'string' ? formVersion : 1;

/** As the described system brings its older files up to date. */
function current(record: JsonRecord): JsonRecord {
  const { message } = record as { readonly message?: JsonRecord | null };
  return record.type === 'message' && message?.role === 'hookMessage' ? { ...record, message: { ...message, role: 'custom' } } : record;
}

const lineOf = (placed: JsonRecord, record: JsonRecord, text: string) =>
  Buffer.from(`${placed === record ? text : JSON.stringify(placed)}\n`);

function headerOf(found: JsonRecord, id: string, text: string, note: (text: string, line: number) => void, line: number): Buffer {
  if (found.type === 'session' && found.id !== id)
    note(`the header names another session, ${JSON.stringify(found.id)}; it names this one now`, line);
  if (found.type === 'session' && found.id === id && found.version === formVersion) return Buffer.from(`${text}\n`);
  const timestamp = typeof found.timestamp === 'string' ? found.timestamp : new Date(0).toISOString();
  return Buffer.from(`${JSON.stringify({ cwd: '', ...found, type: 'session', version: formVersion, id, timestamp })}\n`);
}

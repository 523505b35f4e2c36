import { KernelError } from '../../kernel/index.ts';

/** One line of a hunk: kept, removed or added. */
export interface HunkLine {
  readonly mark: ' ' | '-' | '+';
  readonly text: string;
}

export interface Hunk {
  /** A line above the change, from which on it is looked for. */
  readonly after?: string;
  readonly lines: readonly HunkLine[];
  /** The change stands at the end of the file. */
  readonly atEnd: boolean;
}

export type FileChange =
  | { readonly kind: 'add'; readonly path: string; readonly lines: readonly string[] }
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'update'; readonly path: string; readonly moveTo?: string; readonly hunks: readonly Hunk[] };

export type Patch = readonly FileChange[];

const marks = {
  begin: '*** Begin Patch',
  end: '*** End Patch',
  add: '*** Add File: ',
  delete: '*** Delete File: ',
  update: '*** Update File: ',
  move: '*** Move to: ',
  endOfFile: '*** End of File',
};

/** Writes a patch in the form that `parsePatch` reads. */
export function renderPatch(patch: Patch): string {
  return [marks.begin, ...patch.flatMap(renderFile), marks.end].join('\n');
}

function renderFile(change: FileChange): readonly string[] {
  if (change.kind === 'add') return [marks.add + change.path, ...change.lines.map((line) => `+${line}`)];
  if (change.kind === 'delete') return [marks.delete + change.path];
  const move = change.moveTo === undefined ? [] : [marks.move + change.moveTo];
  return [marks.update + change.path, ...move, ...change.hunks.flatMap(renderHunk)];
}

const renderHunk = ({ after, lines, atEnd }: Hunk): readonly string[] => [
  after === undefined ? '@@' : `@@ ${after}`,
  ...lines.map(({ mark, text }) => mark + text),
  ...(atEnd ? [marks.endOfFile] : []),
];

/** Reads the `*** Begin Patch` envelope; what does not fit is a PATCH_SYNTAX with its line. */
export function parsePatch(input: string): Patch {
  const lines = new Lines(unwrap(input));
  if (lines.take()?.trimEnd() !== marks.begin) throw lines.fault(`a patch begins with "${marks.begin}"`);
  const changes: FileChange[] = [];
  while (lines.peek()?.trimEnd() !== marks.end) {
    if (lines.peek() === undefined) throw lines.fault(`the patch has no "${marks.end}"; was it cut?`);
    changes.push(readChange(lines));
  }
  lines.take();
  if (lines.peek() !== undefined) throw lines.fault(`something follows "${marks.end}"`);
  if (changes.length === 0) throw lines.fault('the patch changes no file');
  return changes;
}

/** Models wrap patches in a here-document or a code fence; nothing else may stand around them. */
function unwrap(input: string): readonly string[] {
  const lines = input.replaceAll('\r\n', '\n').trim().split('\n');
  const opening = /^(?:```\w*|(?:apply_patch\s+)?<<\s*['"]?(\w+)['"]?)$/.exec(lines[0]?.trim() ?? '');
  const isWrapped = opening !== null && lines.at(-1)?.trim() === (opening[1] ?? '```');
  return isWrapped ? lines.slice(1, -1) : lines;
}

/** A cursor over the lines of a patch. */
class Lines {
  #at = 0;
  readonly #lines: readonly string[];

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  peek(): string | undefined {
    return this.#lines[this.#at];
  }

  take(): string | undefined {
    return this.#lines[this.#at++];
  }

  /** Consumes a line that begins with the mark and returns the rest. */
  takeAfter(mark: string): string | undefined {
    const line = this.peek();
    if (!line?.startsWith(mark)) return undefined;
    this.#at++;
    return line.slice(mark.length);
  }

  fault(what: string): KernelError {
    return new KernelError('PATCH_SYNTAX', `patch line ${Math.max(1, Math.min(this.#at + 1, this.#lines.length))}: ${what}`);
  }
}

function readChange(lines: Lines): FileChange {
  const added = lines.takeAfter(marks.add);
  if (added !== undefined) return { kind: 'add', path: pathOf(added, lines), lines: readAdded(lines) };
  const deleted = lines.takeAfter(marks.delete);
  if (deleted !== undefined) return { kind: 'delete', path: pathOf(deleted, lines) };
  const updated = lines.takeAfter(marks.update);
  if (updated === undefined) throw lines.fault(`expected "${marks.add}…", "${marks.update}…" or "${marks.delete}…"`);
  const path = pathOf(updated, lines);
  const moved = lines.takeAfter(marks.move);
  const moveTo = moved === undefined ? {} : { moveTo: pathOf(moved, lines) };
  const hunks = readHunks(lines);
  if (hunks.length === 0 && moved === undefined) throw lines.fault(`"${path}" is to be updated, but no change follows`);
  return { kind: 'update', path, ...moveTo, hunks };
}

function pathOf(raw: string, lines: Lines): string {
  const path = raw.trim();
  if (path === '') throw lines.fault('a file name is missing');
  return path;
}

function readAdded(lines: Lines): readonly string[] {
  const added: string[] = [];
  for (let line = lines.takeAfter('+'); line !== undefined; line = lines.takeAfter('+')) added.push(line);
  const next = lines.peek();
  if (next !== undefined && !next.startsWith('*** ')) throw lines.fault('every line of a new file begins with "+"');
  return added;
}

function readHunks(lines: Lines): readonly Hunk[] {
  const hunks: Hunk[] = [];
  for (let next = lines.peek(); next !== undefined && !isHeader(next); next = lines.peek()) hunks.push(readHunk(lines, hunks.length === 0));
  return hunks;
}

const isHeader = (line: string) => line.startsWith('*** ') && line.trimEnd() !== marks.endOfFile;

/** Only the first hunk may go without its `@@`. */
function readHunk(lines: Lines, first: boolean): Hunk {
  const header = lines.takeAfter('@@');
  if (header === undefined && !first) throw lines.fault('a hunk begins with "@@"');
  const after = header?.replace(/^ /, '').trimEnd();
  const body: HunkLine[] = [];
  for (let line = readLine(lines); line !== undefined; line = readLine(lines)) body.push(line);
  const atEnd = lines.peek()?.trimEnd() === marks.endOfFile;
  if (atEnd) lines.take();
  if (!body.some(({ mark }) => mark !== ' ')) throw lines.fault('a hunk without a "+" or "-" line changes nothing');
  return { ...(after ? { after } : {}), lines: body, atEnd };
}

/** An empty line is an empty context line that lost its blank. */
function readLine(lines: Lines): HunkLine | undefined {
  const line = lines.peek();
  if (line === undefined || line.startsWith('@@') || line.startsWith('*** ')) return undefined;
  const mark = line[0] ?? ' ';
  if (mark !== ' ' && mark !== '-' && mark !== '+') throw lines.fault('a line of a hunk begins with " ", "-" or "+"');
  lines.take();
  return { mark, text: line.slice(1) };
}

import { KernelError } from '../../kernel/index.ts';
import { closest } from './closest.ts';
import { fitOf, misfit } from './indentation.ts';
import { findLines } from './line-match.ts';
import type { Hunk } from './patch.ts';

/** The text with every hunk in place, each looked for below the one before; throws PATCH_MISMATCH. */
export function applyHunks(name: string, text: string, hunks: readonly Hunk[]): string {
  const ends = text.endsWith('\n') || text === '';
  let lines: readonly string[] = text === '' ? [] : (ends ? text.slice(0, -1) : text).split('\n');
  let from = 0;
  for (const [index, hunk] of hunks.entries()) {
    const label = `hunk ${index + 1} of "${name}"`;
    const change = placeHunk(label, lines, hunk, from);
    lines = lines.toSpliced(change.at, change.removed, ...change.added);
    from = change.at + change.added.length;
  }
  return lines.length === 0 ? '' : lines.join('\n') + (ends ? '\n' : '');
}

interface Change {
  readonly at: number;
  readonly removed: number;
  readonly added: readonly string[];
}

function placeHunk(label: string, lines: readonly string[], hunk: Hunk, from: number): Change {
  const start = hunk.after === undefined ? from : anchor(label, lines, hunk.after, from);
  const wanted = hunk.lines.filter(({ mark }) => mark !== '+').map(({ text }) => text);
  const added = hunk.lines.filter(({ mark }) => mark !== '-').map(({ text }) => text);
  if (wanted.length === 0) return { at: hunk.after === undefined || hunk.atEnd ? lines.length : start, removed: 0, added };
  const { places, tolerant } = findLines(lines, wanted, start);
  const last = lines.length - wanted.length;
  const at = hunk.atEnd ? places.find((place) => place === last) : places[0];
  if (at === undefined) throw mismatch(label, lines, wanted, start, hunk.atEnd);
  if (!tolerant) return { at, removed: wanted.length, added };
  return {
    at,
    removed: wanted.length,
    added: keepContext(`${label} fits line ${at + 1}`, hunk, lines.slice(at, at + wanted.length), wanted),
  };
}

/** A tolerant match must not rewrite the lines it was only shown: they stay as the file has them. */
function keepContext(what: string, hunk: Hunk, there: readonly string[], wanted: readonly string[]): readonly string[] {
  let at = 0;
  const fit = fitOf(wanted, there);
  return hunk.lines.flatMap(({ mark, text }) => {
    if (mark === '+') {
      const line = fit(text);
      if (line === undefined) throw new KernelError('PATCH_MISMATCH', misfit(what));
      return [line];
    }
    const line = there[at++] ?? text;
    return mark === ' ' ? [line] : [];
  });
}

function anchor(label: string, lines: readonly string[], after: string, from: number): number {
  const [place] = findLines(lines, [after], from).places;
  if (place !== undefined) return place + 1;
  throw new KernelError(
    'PATCH_MISMATCH',
    `${label}: the line after "@@" is not in the file below line ${from}. ${closest(lines, [after])}`,
  );
}

function mismatch(label: string, lines: readonly string[], wanted: readonly string[], from: number, atEnd: boolean) {
  const where = atEnd ? 'do not end the file' : `are not in the file below line ${from}`;
  return new KernelError('PATCH_MISMATCH', `${label}: its lines ${where}. ${closest(lines, wanted)}`);
}

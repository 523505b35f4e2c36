import { apart, isWide, mayOpen, openings } from './brackets.ts';
import { spellingsOf } from './spellings.ts';

const edgesIn = spellingsOf(['END', 'BEGIN']);

/** Sets brackets apart that open as a mark does before something that reads END or BEGIN, in whatever alphabet the rest may be. */
export const withoutOpenings = (text: string): string =>
  !mayOpen(text)
    ? text
    : text.replace(openings, (run, at: number) => (isWide(run) && opensMark(text, at, at + run.length) ? apart(run) : run));

function opensMark(text: string, start: number, end: number): boolean {
  const rest = text.slice(end, end + most).split(/[\n\r\u2028\u2029]/, 1)[0] ?? '';
  const edge = edgesIn(rest)[0];
  if (edge === undefined || /\p{L}/u.test(rest.slice(0, edge.start))) return false;
  return !variable.test(rest) && !quiet.test(rest) && !isConflict(text, start);
}
/** Farther away nothing is beside it. */
const most = 40;
/** `cat <<< "$END"`. */
const variable = /^ ?"?\$/;
/** `<<< endpoint`, `<<< "end of it"`. */
const quiet = /^ ?(?:["'](?:[Ee]nd|[Bb]egin)|(?:[Ee]nd|[Bb]egin)[a-z])/;

function isConflict(text: string, start: number): boolean {
  conflict.lastIndex = start;
  return conflict.test(text);
}
/** `<<<<<<< end-to-end`: a name in lower case, and nothing else on the line. */
const conflict = /(?<![^\n\r])<{7} [a-z0-9./-]{1,200}(?![^\n\r])/y;

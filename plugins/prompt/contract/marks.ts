import { apart, isWide, openingOf } from './brackets.ts';
import { beginsBefore, type Spelling, spellingsOf } from './spellings.ts';

/** The words of the marks between which text of others stands before a model. */
export const marks = {
  content: 'UNTRUSTED_CONTENT',
  child: 'UNTRUSTED_CHILD_RESULT',
  client: 'CLIENT_INSTRUCTIONS',
} as const;
type Kind = keyof typeof marks;

const words = Object.values(marks);
const spellingsIn = spellingsOf(words);

/**
 * Text of others in which nothing looks like a mark of ours to a model. Their number makes marks unforgeable; this is for readers who
 * do not compare numbers. All else stays byte for byte: code, diffs and prose, also such as name these words.
 */
export function withoutMarks(text: string, kinds: readonly Kind[] = ['content', 'child', 'client']): string {
  const wanted = kinds.map((kind): string => marks[kind]);
  const found = spellingsIn(text).filter(({ word }) => wanted.includes(word));
  let [made, from] = ['', 0];
  for (const [i, spelling] of found.entries()) {
    const place = placeOf(text, spelling, found[i + 1]?.start ?? text.length);
    if (!isMark(text, place)) continue;
    const { end, after } = place;
    const start = Math.max(place.start, from);
    const before = Math.max(place.before, from);
    made += `${text.slice(from, before)}${apart(text.slice(before, start))}[mark removed]${apart(text.slice(end, after))}`;
    from = after;
  }
  return from === 0 ? text : made + text.slice(from);
}

/** Where it stands with the END or BEGIN that belongs to it, and how far the signs around it reach on its line. */
interface Place {
  readonly before: number;
  readonly start: number;
  readonly end: number;
  readonly after: number;
  readonly manner: Manner;
  readonly hasEdge: boolean;
}

function placeOf(text: string, { start: bare, end }: Spelling, most: number): Place {
  const start = edgeOf(text, bare);
  const manner = mannerOf(text.slice(bare, end), text.slice(start, bare));
  let before = start;
  const farthest = Math.max(0, start - reach);
  while (before > farthest && isPart.test(text[before - 1] ?? '')) before--; // of SEND_…
  while (before > farthest && !isEnough.test(text[before - 1] ?? '')) before--;
  around.lastIndex = end;
  return { before, start, end, after: Math.min(end + (around.exec(text)?.[0].length ?? 0), most), manner, hasEdge: start < bare };
}

/** Where END or BEGIN begins on the line of a word, if it stands before it; else where the word does. */
function edgeOf(text: string, word: number): number {
  const at = beginsBefore(text, word, 'END', reach) ?? beginsBefore(text, word, 'BEGIN', reach) ?? word;
  const isOfSend = /\p{L}\p{M}*$/u.test(text.slice(Math.max(0, at - 8), at));
  return isOfSend || /[\n\r\u2028\u2029]/.test(text.slice(at, word)) ? word : at;
}
const isPart = /[\p{L}\p{N}_]/u;
const isEnough = /[\p{L}\n\r\u2028\u2029]/u;
/** Signs farther away are not beside it. */
const reach = 400;
const besides = `[^\\p{L}\\n\\r\\u2028\\u2029]{0,${reach}}`;
/** Up to the next letter; what a mark says of itself (number, source) is none. */
const around = new RegExp(`${besides}(?:[\\da-fA-F]{6,40}${besides})?(?:from\\s*"[^"\\n\\r]{0,500}"${besides})?`, 'uy');

/** A question of looks: any number of signs may stand between the letters of what was found. */
function isMark(text: string, { before, start, after, manner, hasEdge }: Place): boolean {
  const opens = openingOf(text.slice(before, start));
  if (manner === 'words') return opens > 0;
  if (manner === 'code') return opens > 2;
  return hasEdge || opens > 0 || isWide(text.slice(before, after));
}

/** In lower or sentence case: two words of a sentence, or a name or two in code and across sentences. Else somebody means a mark. */
type Manner = 'words' | 'code' | 'loud';

function mannerOf(word: string, edge: string): Manner {
  const isQuiet = plain.test(word) && !word.split(/[^A-Za-z]+/).some((part) => shouted.test(part));
  if (!isQuiet || !plainEdge.test(edge)) return 'loud';
  return /^[A-Za-z]+(?:[^\S\n\r]+[A-Za-z]+)+$/.test(word) ? 'words' : 'code';
}
const plain = new RegExp(`^(?:${words.map((word) => word.split('_').join('[^A-Za-z_]*')).join('|')})$`, 'i');
/** `clientINSTRUCTIONS`. */
const shouted = /[A-Z]{2}/;
/** None, or the end of what stands before: `END;`. */
const plainEdge = /^(?:[Ee]nd|[Bb]egin)?[^A-Za-z_]*$|[.;!?]/;

/**
 * Letters of other scripts that look like Latin ones, digits that stand for them: only what NFKD does not fold. `I` and `L`
 * are one letter, because a bar, a one, a small L and a capital I look the same.
 */
const alike: Readonly<Record<string, string>> = {
  A: 'ΑАᎪᴀꓮαаɑ4@',
  B: 'ΒВᏴʙꓐвβ8',
  C: 'СϹᏟᴄꓚсϲ¢',
  D: 'ᎠᴅꓓԁᗞÐđ',
  E: 'ΕЕᎬᴇꓰεеҽɛєƎ3€',
  G: 'ԌᏀɢꓖɡց6',
  H: 'ΗНᎻʜꓧнһ',
  I: 'ΙІӀıɪіιᎥꓲᏞʟꓡӏłŁ1|!',
  N: 'ΝɴꓠոΝηпƝ',
  O: 'ΟОᴏꓳоοօՕѳσøØ०๐○◯●0',
  R: 'ᎡʀꓣƦᏒгя',
  S: 'ЅՏᏚѕꜱꓢʂ5$',
  T: 'ΤТᎢᴛꓔтτ⊤7+',
  U: 'Սᴜꓴυս⋃∪μцЦ',
};
const letters = new Map(Object.entries(alike).flatMap(([letter, all]) => Array.from(all).map((one): [string, string] => [one, letter])));
letters.set('L', 'I');

/** Negative circled, negative squared, and regional letters have no decomposition. */
const rows: readonly number[] = [0x1f150, 0x1f170, 0x1f1e6];
const known = new Map<string, string>();

/** The Latin letters, upper case, that one character shows; none for signs. */
function shownBy(character: string): string {
  const old = known.get(character);
  if (old !== undefined) return old;
  if (known.size > 10_000) known.clear();
  const code = character.codePointAt(0) ?? 0;
  const row = rows.find((first) => code >= first && code < first + 26);
  const plain = row === undefined ? character.normalize('NFKD') : String.fromCharCode(0x41 + code - row);
  const shown = Array.from(plain)
    .map((one) => letters.get(one) ?? letterOf(one.toUpperCase()))
    .join('');
  known.set(character, shown);
  return shown;
}

const letterOf = (upper: string) => letters.get(upper) ?? (/^[A-Z]$/.test(upper) ? upper : '');

/** A text as letters that it shows, each with where it stands. Signs, spaces and what nobody sees are left out. */
export interface Shown {
  readonly letters: string;
  /** Of the n-th letter, where its character begins and ends in the text. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

export function lettersOf(text: string): Shown {
  const [starts, ends, found] = [[] as number[], [] as number[], [] as string[]];
  let at = 0;
  for (const character of text) {
    const shown = shownBy(character);
    for (const letter of shown) {
      found.push(letter);
      starts.push(at);
      ends.push(at + character.length);
    }
    at += character.length;
  }
  return { letters: found.join(''), starts, ends };
}

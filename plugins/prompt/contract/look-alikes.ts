/**
 * Letters of other scripts that look like Latin ones, and signs and digits that stand for them: only what NFKD does not fold, of letters
 * that a mark of ours has. `I` and `L` are one letter, because a bar, a one, a small L and a capital I look the same.
 */
const alike: Readonly<Record<string, string>> = {
  B: 'ΒВᏴʙꓐвβ8ᗷ฿Ⲃ',
  C: 'СϹᏟᴄꓚсϲ¢ᑕ₵Ⲥ',
  D: 'ᎠᴅꓓԁᗞÐđᗪ',
  E: 'ΕЕᎬᴇꓰεеҽɛєƎ3€ⲈɆ',
  G: 'ԌᏀɢꓖɡց6ᘜ₲',
  H: 'ΗНᎻʜꓧнһᕼⲎĦ',
  I: 'ΙІӀıɪіιᎥꓲᏞʟꓡӏłŁ1|!ᒪⲒⱠ',
  N: 'ΝɴꓠոΝηпƝᑎⲚИ⋂₦',
  O: 'ΟОᴏꓳоοօՕѳσøØ०๐○◯●0ⲞΘ⊙',
  R: 'ᎡʀꓣƦᏒгяᖇⱤ',
  S: 'ЅՏᏚѕꜱꓢʂ5$ᔕ₴',
  T: 'ΤТᎢᴛꓔтτ⊤7+Ⲧ₮†',
  U: 'Սᴜꓴυս⋃∪μцЦᑌɄ',
};
const alphabet = Object.keys(alike).join('');
const letters = new Map(Object.entries(alike).flatMap(([letter, all]) => Array.from(all).map((one): [string, string] => [one, letter])));
letters.set('L', 'I');

/** Negative circled, negative squared, and regional letters have no decomposition. */
const rows: readonly number[] = [0x1f150, 0x1f170, 0x1f1e6];

/** What a character shows: nothing of the alphabet, some other Latin letter, several letters, or the letter `first + n` of it. */
export const shows = { unknown: 0, nothing: 1, other: 2, several: 3, first: 4, size: 64 } as const;
/** Added where a sign or a digit stands for the letter: it may as well stand between two. */
export const asSign = 32;

let table: Uint8Array | undefined;
const more = new Map<number, readonly number[]>();

/** By code point; where it says `unknown`, `learn` it. A megabyte that comes with the first text, and is in memory where it is used. */
export const shownTable = (): Uint8Array => (table ??= new Uint8Array(0x110000));

/** The letters of a character that shows several, such as a ligature. */
export const severalOf = (code: number): readonly number[] => more.get(code) ?? [];

/** The letter's code, of a letter of the alphabet in upper case. */
export const codeOf = (letter: string): number => shows.first + alphabet.indexOf(letters.get(letter) ?? letter);

export function learn(code: number): number {
  const row = rows.find((first) => code >= first && code < first + 26);
  const plain = row === undefined ? String.fromCodePoint(code).normalize('NFKD') : String.fromCharCode(0x41 + code - row);
  const all = Array.from(plain, shownBy).filter((shown) => shown !== shows.nothing);
  if (all.length > 1) more.set(code, all);
  const shown = all.length > 1 ? shows.several : (all[0] ?? shows.nothing);
  shownTable()[code] = shown;
  return shown;
}

function shownBy(one: string): number {
  const upper = one.toUpperCase();
  const letter = letters.get(one) ?? letters.get(upper) ?? letters.get(one.toLowerCase()) ?? upper;
  if (letter.length === 1 && alphabet.includes(letter)) return codeOf(letter) + (/\p{L}/u.test(one) ? 0 : asSign);
  return /^[A-Z]$/.test(letter) ? shows.other : shows.nothing;
}

import { distance } from 'fastest-levenshtein';

/** The known word closest to a mistyped one, if any is close enough to be meant. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const edits = (to: string) => distance(word.toLowerCase(), to.toLowerCase());
  const [closest] = [...known].toSorted((a, b) => edits(a) - edits(b));
  return closest !== undefined && edits(closest) <= Math.max(2, word.length / 3) ? closest : undefined;
}

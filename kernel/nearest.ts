/** The known word closest to a mistyped one, if any is close enough to be meant. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const near = [...known]
    .map((to) => ({ to, edits: distance(word.toLowerCase(), to.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits)[0];
  return near && near.edits <= Math.max(2, word.length / 3) ? near.to : undefined;
}

/** Edits (insert, delete, replace) from one word to the other. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, char] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++)
      next.push(Math.min((row[j] ?? 0) + (char === b[j] ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    row = next;
  }
  return row.at(-1) ?? 0;
}

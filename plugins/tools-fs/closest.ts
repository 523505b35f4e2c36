import { plain } from './line-match.ts';

/** Enough work for a good hint; a wrong edit of a huge file must not stall the turn. */
const budget = 200_000;

/** Tells where a text that was not found nearly stands, and the first line that differs. */
export function closest(lines: readonly string[], wanted: readonly string[]): string {
  const sought = wanted.slice(0, Math.max(1, Math.floor(budget / (lines.length + 1)))).map(signOf);
  const there = lines.map(signOf);
  let best = { at: -1, score: 0 };
  for (let at = 0; at < lines.length; at++) {
    const score = sought.reduce((sum, sign, i) => sum + likeness(sign, there[at + i]), 0) / sought.length;
    if (score > best.score) best = { at, score };
  }
  if (best.score < 0.4) return `Nothing like it is in the ${lines.length} lines of the file.`;
  const near = lines.slice(best.at, best.at + wanted.length);
  const differs = wanted.findIndex((line, i) => plain(line) !== plain(near[i] ?? ''));
  const where = best.at + Math.max(differs, 0);
  return [
    `Nearest, from line ${best.at + 1}:`,
    ...near.slice(0, 20).map(short),
    `First difference, line ${where + 1}: the file has ${JSON.stringify(short(lines[where] ?? ''))}, you gave ${JSON.stringify(short(wanted[Math.max(differs, 0)] ?? ''))}`,
  ].join('\n');
}

interface Sign {
  readonly text: string;
  readonly pairs: ReadonlySet<string>;
}

function signOf(line: string): Sign {
  const text = plain(line).slice(0, 200);
  return { text, pairs: new Set(Array.from({ length: Math.max(text.length - 1, 0) }, (_, i) => text.slice(i, i + 2))) };
}

/** Shared pairs of letters (Dice), 0 to 1. */
function likeness(a: Sign, b: Sign | undefined): number {
  if (b === undefined) return 0;
  if (a.text === b.text) return 1;
  const total = a.pairs.size + b.pairs.size;
  return total === 0 ? 0 : (2 * a.pairs.intersection(b.pairs).size) / total;
}

const short = (line: string) => (line.length > 200 ? `${line.slice(0, 200)}…` : line);

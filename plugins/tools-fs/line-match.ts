/** How two lines are compared, from strict to tolerant. The first rule that finds anything decides. */
export const rules: readonly ((line: string) => string)[] = [(line) => line, (line) => line.trimEnd(), plain];

/** Whitespace, typographic quotes and dashes do not count: models retype them. */
export function plain(line: string): string {
  return line
    .replace(/[‘’‚‛]/g, "'")
    .replace(/[“”„‟]/g, '"')
    .replace(/[‐-―−]/g, '-')
    .replace(/\s+/g, ' ')
    .trim();
}

export interface Found {
  /** Index of the first line of each place, in order. */
  readonly places: readonly number[];
  readonly tolerant: boolean;
}

/** Where a run of lines stands in a text, from line index `from` on, by the strictest rule that finds it. */
export function findLines(lines: readonly string[], wanted: readonly string[], from = 0): Found {
  // Blank lines alone are everywhere once whitespace does not count.
  const usable = wanted.some((line) => line.trim() !== '') ? rules : rules.slice(0, 1);
  for (const rule of usable) {
    const places = placesOf(lines.map(rule), wanted.map(rule), from);
    if (places.length > 0) return { places, tolerant: rule !== rules[0] };
  }
  return { places: [], tolerant: false };
}

function placesOf(lines: readonly string[], wanted: readonly string[], from: number): number[] {
  const places: number[] = [];
  for (let at = from; at + wanted.length <= lines.length; at++) {
    if (wanted.every((line, i) => lines[at + i] === line)) places.push(at);
  }
  return places;
}

/** A new line as the file would have it; undefined where that cannot be told. */
export type Fit = (line: string) => string | undefined;

/**
 * Learns from lines that were matched without regard to whitespace: what the model wrote, beside what the file has. A line that is
 * repeated stays as the file has it; of another the indentation is put into the file's.
 */
export function fitOf(wanted: readonly string[], there: readonly string[]): Fit {
  const [same, indents] = [new Map<string, string | undefined>(), new Map<string, string | undefined>()];
  for (const [i, line] of wanted.entries()) {
    const own = there[i] ?? '';
    learn(same, line, own);
    if (line.trim() !== '') learn(indents, indentOf(line), indentOf(own));
  }
  return (line) => {
    if (line.trim() === '') return line;
    const indent = indentOf(line);
    const known = same.get(line) ?? (indents.has(indent) ? before(indents.get(indent), line) : undefined);
    return known ?? (indents.has(indent) ? undefined : before(derived(indent, indents), line));
  };
}

/** What was learnt in two ways is not known. */
function learn(table: Map<string, string | undefined>, from: string, to: string) {
  table.set(from, table.has(from) && table.get(from) !== to ? undefined : to);
}

const indentOf = (line: string) => /^[ \t]*/.exec(line)?.[0] ?? '';
const before = (indent: string | undefined, line: string) =>
  indent === undefined ? undefined : indent + line.slice(indentOf(line).length);

export const misfit = (what: string) =>
  `${what}, but with other tabs and spaces, and how deep the new lines belong there cannot be told; read the file and copy its lines as they are`;

type Pair = readonly [from: string, to: string];

/** Of an indentation that no matched line has: from the nearest that is inside it, or that it is inside of. */
function derived(indent: string, table: ReadonlyMap<string, string | undefined>): string | undefined {
  const pairs = [...table].filter((pair): pair is [string, string] => pair[1] !== undefined).toSorted(([a], [b]) => b.length - a.length);
  if (pairs.every(([from, to]) => from === to)) return indent;
  const units = unitsOf(pairs);
  const inner = pairs.find(([from]) => indent.startsWith(from));
  if (inner) {
    const rest = converted(indent.slice(inner[0].length), inner[1], units);
    return rest === undefined ? undefined : inner[1] + rest;
  }
  const outer = pairs.findLast(([from]) => from.startsWith(indent));
  const less = outer && converted(outer[0].slice(indent.length), outer[1], units);
  return less !== undefined && outer?.[1].endsWith(less) ? outer[1].slice(0, outer[1].length - less.length) : undefined;
}

/** One step of indentation in both: by two lines of different depth. One line alone is a step where it is a single tab. */
function unitsOf(pairs: readonly Pair[]): readonly Pair[] {
  const steps = pairs.flatMap(([from, to]) =>
    pairs.flatMap(([less, base]): readonly Pair[] =>
      from.startsWith(less) && to.startsWith(base) ? [[from.slice(less.length), to.slice(base.length)]] : [],
    ),
  );
  const alone = pairs.some(([from]) => from === '') ? [] : pairs.filter(([, to]) => to === '\t');
  return [...steps, ...alone].filter((step) => step.every((one) => /^(?: +|\t+)$/.test(one))).map(([from, to]) => smallest(from, to));
}

function smallest(from: string, to: string): Pair {
  const parts = [...Array(from.length + 1).keys()].findLast((n) => n > 0 && from.length % n === 0 && to.length % n === 0) ?? 1;
  return [from.slice(0, from.length / parts), to.slice(0, to.length / parts)];
}

/** By the steps that were learnt, where they agree; of one kind with what is there it stays as it is. */
function converted(rest: string, beside: string, units: readonly Pair[]): string | undefined {
  const found = new Set(units.flatMap(([from, to]) => (rest.replaceAll(from, '') === '' ? to.repeat(rest.length / from.length) : [])));
  if (found.size > 0) return found.size === 1 ? [...found][0] : undefined;
  return units.length === 0 && new Set(rest + beside).size === 1 ? rest : undefined;
}

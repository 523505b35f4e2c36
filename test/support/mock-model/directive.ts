/**
 * What a user message tells the mock model to do, written in it as `[[…]]`:
 *
 * - `[[tool:NAME {json}]]` one call · `[[tools:N NAME {json}]]` N rounds of one · `[[par:N NAME {json}]]` N in one reply
 * - `[[badargs:NAME]]` a call whose arguments are broken JSON · `[[cut-in-args:NAME]]` the stream ends inside them
 * - `[[reply:TEXT]]` · `[[think:TEXT]]` reasoning before the answer · `[[usage:IN,OUT,CACHED]]` these token counts
 * - `[[chunks:N]]`, `[[chunks:N first=MS every=MS]]` N deltas, the turn's `MARK-…` before them · `[[slow:MS]]` waits before it answers
 * - `[[hold]]` answers once the test says `release`, or at once where it has
 * - `[[status:CODE]]` · `[[overflow]]` context too long · `[[drop]]` the stream ends inside the text
 *
 * ` times=K` in one of the last three, or in `cut-in-args`: fails K times, then answers.
 */
export type Directive =
  | {
      readonly kind: 'tool' | 'tools' | 'par';
      readonly count: number;
      readonly name: string;
      readonly args: Readonly<Record<string, unknown>>;
    }
  | {
      readonly kind: 'badargs' | 'cut-in-args' | 'reply' | 'think' | 'usage' | 'chunks' | 'slow' | 'hold' | 'status' | 'overflow' | 'drop';
      readonly value: string;
      readonly times: number;
      readonly everyMs: number;
      readonly firstMs: number;
    };

const head = /\[\[(tools?|par|badargs|cut-in-args|reply|think|usage|chunks|slow|hold|status|overflow|drop)(?::|(?=\s|\]\]))/g;

/** The first directive of a text. What looks like one and does not parse is passed over. */
export function directiveIn(text: string): Directive | undefined {
  if (!text.includes('[[')) return undefined;
  for (const match of text.matchAll(head)) {
    const kind = match[1] as Directive['kind'];
    const rest = text.slice(match.index + match[0].length);
    const found = kind === 'tool' || kind === 'tools' || kind === 'par' ? call(kind, rest) : plain(kind, rest);
    if (found) return found;
  }
  return undefined;
}

function call(kind: 'tool' | 'tools' | 'par', rest: string): Directive | undefined {
  const named = /^\s*(?:(\d+)\s+)?([\w.-]+)\s*/.exec(rest);
  if (!named?.[2]) return undefined;
  const args = jsonBefore(rest.slice(named[0].length));
  return args && { kind, count: kind === 'tool' ? 1 : Number(named[1] ?? 1), name: named[2], args };
}

/** The JSON up to a `]]`. A `]]` inside its strings is no end: the longer text is tried next. */
function jsonBefore(text: string): Readonly<Record<string, unknown>> | undefined {
  for (let end = text.indexOf(']]'); end >= 0; end = text.indexOf(']]', end + 1)) {
    const json = text.slice(0, end).trim();
    if (json === '') return {};
    try {
      return JSON.parse(json) as Record<string, unknown>;
    } catch {
      // Not the end yet.
    }
  }
  return undefined;
}

function plain(kind: Exclude<Directive['kind'], 'tool' | 'tools' | 'par'>, rest: string): Directive | undefined {
  const end = rest.indexOf(']]');
  if (end < 0) return undefined;
  const inner = rest.slice(0, end);
  const option = (name: string, otherwise: number) => Number(new RegExp(`\\s${name}=(\\d+)`).exec(inner)?.[1] ?? otherwise);
  const value = inner.replace(/\s(?:times|every|first)=\d+/g, '').trim();
  return { kind, value, times: option('times', Infinity), everyMs: option('every', 0), firstMs: option('first', 0) };
}

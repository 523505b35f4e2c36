import { asSign, codeOf, learn, severalOf, shownTable, shows } from './look-alikes.ts';

/** A word in a text, however it is written: in letters that look like its own, with whatever signs and spaces between them. */
export interface Spelling {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** Finds words in one pass, each character looked at once, whatever the text. */
export function spellingsOf(words: readonly string[]): (text: string) => readonly Spelling[] {
  let known: Automaton | undefined;
  return (text) => spelledIn(text, (known ??= automatonOf(words)));
}

function spelledIn(text: string, automaton: Automaton): readonly Spelling[] {
  const [table, { opens }, walk] = [shownTable(), automaton, walkOn(automaton)];
  for (let i = 0, end = 0; i < text.length; i = end) {
    let code = text.charCodeAt(i);
    end = i + 1;
    if ((code & 0xfc00) === 0xd800) {
      code = text.codePointAt(i) ?? code;
      if (code > 0xffff) end++;
    }
    const shown = table[code] || learn(code);
    if (shown === shows.nothing || (walk.state === 0 && opens[shown] === 0)) continue;
    if (shown === shows.several) for (const one of severalOf(code)) walk.step(one, i, end);
    else walk.step(shown, i, end);
  }
  return walk.found;
}

/** Where a text is in the words, by the letters it has shown. */
function walkOn({ next, depth, last, ends }: Automaton) {
  const found: Spelling[] = [];
  /** Of the last letters: where each stands. */
  const places = new Int32Array(32);
  let count = 0;
  let wasSign = false;
  const walk = { found, state: 0, step };

  function step(shown: number, from: number, to: number): void {
    const { state } = walk;
    const isSign = shown >= asSign;
    const letter = isSign ? shown - asSign : shown;
    const target = letter < shows.first ? 0 : (next[state * width + letter] ?? 0);
    const grows = depth[target] === (depth[state] ?? 0) + 1;
    if (!grows && isSign) return;
    const isInstead = !grows && wasSign && letter === last[state]; // the sign before it was none: CON+TENT
    wasSign = isSign;
    if (isInstead) return;
    places[count++ & 31] = from;
    walk.state = target;
    const word = ends[target];
    if (word === undefined) return;
    found.push({ word, start: places[(count - (depth[target] ?? 0)) & 31] ?? 0, end: to });
    walk.state = 0;
  }
  return walk;
}

/** Where a word begins that stands before `at` with nothing but signs and spaces between, at most so many characters away. */
export function beginsBefore(text: string, at: number, word: string, most: number): number | undefined {
  const letters = Array.from(word, codeOf);
  for (let i = at; i > 0 && at - i < most; ) {
    const low = text.charCodeAt(i - 1);
    i -= (low & 0xfc00) === 0xdc00 && (text.codePointAt(i - 2) ?? 0) > 0xffff ? 2 : 1;
    const code = text.codePointAt(i) ?? 0;
    const shown = shownTable()[code] || learn(code);
    for (const one of shown === shows.several ? severalOf(code).toReversed() : [shown]) {
      if (one === letters.at(-1) || one - asSign === letters.at(-1)) letters.pop();
      else if (one !== shows.nothing && one < asSign) return undefined;
    }
    if (letters.length === 0) return i;
  }
  return undefined;
}

const width = 32;

interface Automaton {
  /** By state and letter: the state that follows, failures resolved (Aho and Corasick). */
  readonly next: readonly number[];
  readonly depth: readonly number[];
  /** The letter that led to a state. */
  readonly last: readonly number[];
  readonly ends: readonly (string | undefined)[];
  /** By what a character shows: whether it matters where no word has begun. */
  readonly opens: Uint8Array;
}

function automatonOf(words: readonly string[]): Automaton {
  const trie: Trie = { next: Array<number>(width).fill(0), depth: [0], last: [0], ends: [undefined] };
  for (const word of words) {
    const end = Array.from(word.replace(/[^A-Z]/g, ''), codeOf).reduce((state, letter) => grown(trie, state, letter), 0);
    trie.ends[end] = word;
  }
  resolve(trie);
  const opens = Uint8Array.from({ length: shows.size }, (_, shown) =>
    shown === shows.several || trie.next[shown >= asSign ? shown - asSign : shown] ? 1 : 0,
  );
  return { ...trie, opens };
}

interface Trie {
  readonly next: number[];
  readonly depth: number[];
  readonly last: number[];
  readonly ends: (string | undefined)[];
}

function grown({ next, depth, last, ends }: Trie, state: number, letter: number): number {
  const at = state * width + letter;
  if (next[at]) return next[at];
  next[at] = depth.length;
  depth.push((depth[state] ?? 0) + 1);
  last.push(letter);
  ends.push(undefined);
  next.push(...Array<number>(width).fill(0));
  return depth.length - 1;
}

/** Gives each state the ways of the longest other one that ends as it does. */
function resolve({ next }: Trie): void {
  const fails: number[] = [0];
  const queue = [0];
  for (const state of queue) {
    for (let letter = 0; letter < width; letter++) {
      const at = state * width + letter;
      const [to = 0, fail = 0] = [next[at], next[(fails[state] ?? 0) * width + letter]];
      if (to === 0) next[at] = state === 0 ? 0 : fail;
      else {
        fails[to] = state === 0 ? 0 : fail;
        queue.push(to);
      }
    }
  }
}

import { Losses } from './losses.ts';
import { deltaOf, isDelta, type Numbered, partOf, type Published, weigh, withDelta } from './part.ts';

export interface RingLimits {
  readonly events: number;
  readonly bytes: number;
}

/** One event; or all deltas of a message part, with the number and the end of each, so that replay can cut anywhere. */
interface Kept {
  readonly event: Published;
  /** The newest number in it. */
  n: number;
  bytes: number;
  text: string;
  readonly marks: number[];
  readonly ends: number[];
}

/** What was published lately, bounded. Least recently touched goes first, so a long message that still grows stays. */
export class Ring {
  readonly #kept = new Map<string | number, Kept>();
  readonly #limits: RingLimits;
  readonly #lost = new Losses();
  #bytes = 0;

  constructor(limits: RingLimits) {
    this.#limits = limits;
  }

  /** The newest number of these that is not kept any more: a replay from before it is not whole. */
  lost(sessionKey: string | undefined): number {
    return this.#lost.of(sessionKey);
  }

  add(n: number, event: Published) {
    const part = partOf(event);
    if (part === undefined) return this.#put(n, keep(n, event));
    const before = this.#kept.get(part);
    if (before) this.#remove(part, before);
    if (!before || !isDelta(event.type)) return this.#put(part, keep(n, event));
    if (before.bytes < this.#limits.bytes / 8) return this.#put(part, grow(before, n, event));
    // One part must not be all that is kept, or lose its beginning and its end at once.
    this.#put(before.n, before);
    this.#put(part, keep(n, event));
  }

  /** In the order of publishing; deltas of one part that follow each other come as one. */
  since(after: number, wants: (event: Published) => boolean): Numbered[] {
    const pieces: Piece[] = [];
    for (const kept of this.#kept.values()) if (kept.n > after && wants(kept.event)) cut(kept, after, pieces);
    pieces.sort((a, b) => a.n - b.n);
    return join(pieces);
  }

  /** The number after which a session's events are not settled yet: its last completed message or turn. */
  settled(sessionKey: string): number | undefined {
    let settled = -1;
    let first = Number.POSITIVE_INFINITY;
    for (const { n, event, marks } of this.#kept.values()) {
      if (event.sessionKey !== sessionKey) continue;
      if (event.type === 'message_end' || event.type === 'agent_end') settled = Math.max(settled, n);
      first = Math.min(first, marks[0] ?? n);
    }
    if (settled < 0 && !Number.isFinite(first)) return undefined;
    return Math.max(settled < 0 ? first - 1 : settled, this.lost(sessionKey));
  }

  #put(key: string | number, kept: Kept) {
    if (kept.bytes > this.#limits.bytes / 2) return this.#lost.add(kept); // rather it than all others
    this.#kept.set(key, kept);
    this.#bytes += kept.bytes;
    while (this.#kept.size > this.#limits.events || this.#bytes > this.#limits.bytes) {
      const [oldest] = this.#kept;
      if (!oldest) return;
      this.#remove(...oldest);
      this.#lost.add(oldest[1]);
    }
  }

  #remove(key: string | number, kept: Kept) {
    this.#kept.delete(key);
    this.#bytes -= kept.bytes;
  }
}

function keep(n: number, event: Published): Kept {
  const bytes = 200 + weigh(event.data);
  if (!isDelta(event.type)) return { event, n, bytes, text: '', marks: [], ends: [] };
  const text = deltaOf(event);
  return { event, n, bytes, text, marks: [n], ends: [text.length] };
}

function grow(kept: Kept, n: number, event: Published): Kept {
  const delta = deltaOf(event);
  kept.text += delta;
  kept.marks.push(n);
  kept.ends.push(kept.text.length);
  kept.n = n;
  kept.bytes += delta.length + 48; // the text, its two marks, and the rope node that holds it until it is read
  return kept;
}

interface Piece {
  n: number;
  readonly kept: Kept;
  readonly from: number;
  to: number;
}

function cut(kept: Kept, after: number, pieces: Piece[]) {
  if (kept.marks.length === 0) pieces.push({ n: kept.n, kept, from: 0, to: 0 });
  for (const [i, n] of kept.marks.entries()) {
    if (n > after) pieces.push({ n, kept, from: kept.ends[i - 1] ?? 0, to: kept.ends[i] ?? 0 });
  }
}

function join(pieces: readonly Piece[]): Numbered[] {
  const joined: Piece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (last?.kept === piece.kept) Object.assign(last, { n: piece.n, to: piece.to });
    else joined.push(piece);
  }
  return joined.map(({ n, kept, from, to }) => ({
    n,
    event: kept.marks.length === 0 ? kept.event : withDelta(kept.event, kept.text.slice(from, to)),
  }));
}

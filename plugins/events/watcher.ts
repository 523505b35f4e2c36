import { deltaOf, isDelta, type Numbered, partOf, type Published, weigh, withDelta } from './part.ts';
import type { RingLimits } from './ring.ts';

/** Takes one event; a promise means "not another until this settles". */
export type Deliver = (n: number, event: Published) => void | Promise<void>;

interface Failures {
  /** What a reader threw at one event. */
  threw(error: unknown): void;
  /** It is not read to any more. */
  gaveUp(): void;
}

interface Waiting {
  n: number;
  event: Published;
  /** Counted only while the reader is behind. */
  bytes: number;
}

/** Parts are shown at most this often, as a screen would; all else goes at once. */
const frameMs = 16;

/**
 * One reader of the stream. Events wait here while the reader is behind, or for the next frame; deltas that follow
 * each other join. Order and numbers stay exact: after any delivered event, all up to its number were delivered.
 */
export class Watcher {
  readonly #waiting = new Map<string | number, Waiting>();
  /** The delta that the next one of its part may join. */
  #tail: { readonly part: string; readonly entry: Waiting } | undefined;
  #bytes = 0;
  #lastFrame = 0;
  #timer: NodeJS.Timeout | undefined;
  #busy = false;
  #stopped = false;
  readonly #deliver: Deliver;
  readonly #limits: RingLimits;
  readonly #failures: Failures;

  constructor(deliver: Deliver, limits: RingLimits, failures: Failures) {
    this.#deliver = deliver;
    this.#limits = limits;
    this.#failures = failures;
  }

  push(n: number, event: Published) {
    if (this.#stopped) return;
    const part = partOf(event);
    this.#hold(n, event, part);
    if (this.#busy || this.#timer) {
      if (part === undefined && !this.#busy) this.#flush();
      return;
    }
    const due = part === undefined ? 0 : this.#lastFrame + frameMs - performance.now();
    if (due <= 0) return this.#flush();
    this.#timer = setTimeout(() => this.#flush(), due);
  }

  /** All at once, in order, without waiting for a frame. */
  replay(events: readonly Numbered[]) {
    for (const { n, event } of events) this.#hold(n, event, partOf(event));
    this.#flush();
  }

  stop() {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#flush(true);
  }

  #hold(n: number, event: Published, part: string | undefined) {
    const joins = part !== undefined && isDelta(event.type);
    if (joins && this.#tail?.part === part) return this.#join(this.#tail.entry, n, event);
    const entry = { n, event, bytes: 0 };
    const key = joins ? n : (part ?? n);
    this.#take(key); // of a part that is not joined only the newest counts, at its own place
    this.#waiting.set(key, entry);
    this.#tail = joins ? { part, entry } : undefined;
    if (this.#busy) this.#count(entry, event.data);
  }

  #join(entry: Waiting, n: number, event: Published) {
    const delta = deltaOf(event);
    entry.n = n;
    entry.event = withDelta(entry.event, deltaOf(entry.event) + delta);
    if (this.#busy) this.#count(entry, delta);
  }

  #take(key: string | number) {
    this.#bytes -= this.#waiting.get(key)?.bytes ?? 0;
    this.#waiting.delete(key);
    if (this.#waiting.size === 0) this.#tail = undefined;
  }

  /** What waits for a slow reader is bounded: past that, one event tells him that he missed some. */
  #count(entry: Waiting, added: unknown) {
    const bytes = weigh(added);
    entry.bytes += bytes;
    this.#bytes += bytes;
    if (this.#waiting.size <= this.#limits.events && this.#bytes <= this.#limits.bytes) return;
    this.#waiting.clear();
    this.#bytes = 0;
    this.#tail = undefined;
    this.#waiting.set(entry.n, { n: entry.n, event: { type: 'missed', data: {} }, bytes: 0 });
  }

  #flush(regardless = false) {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#lastFrame = performance.now();
    for (const [key, { n, event }] of this.#waiting) {
      this.#take(key); // before the reader runs: he may publish
      this.#send(n, event);
      if (this.#busy && !regardless) break;
    }
  }

  #send(n: number, event: Published) {
    try {
      const reading = this.#deliver(n, event);
      if (!reading) return;
      this.#busy = true;
      const goOn = () => {
        this.#busy = false;
        this.#flush();
      };
      reading.then(goOn, (error: unknown) => {
        this.#busy = false;
        this.#skip(n, event, error);
        if (!this.#busy) this.#flush();
      });
    } catch (error) {
      this.#skip(n, event, error);
    }
  }

  /** One event that cannot be told must not cost its reader all that follow. Who cannot take `missed` either is given up. */
  #skip(n: number, { type }: Published, error: unknown) {
    if (type !== 'missed') {
      this.#failures.threw(error);
      if (!this.#stopped) this.#send(n, { type: 'missed', data: {} });
      return;
    }
    this.#stopped = true;
    this.#waiting.clear();
    clearTimeout(this.#timer);
    this.#failures.gaveUp();
  }
}

const burst = 20;
const perSecond = 1;
const addresses = 1_000;

/** Counts wrong tokens by address, so that no one guesses quickly. Kept in the listener: it outlives reloads. */
export class Failures {
  readonly #left = new Map<string, { attempts: number; at: number }>();

  /** Seconds to wait before another attempt is even looked at; 0 for now. */
  wait(address: string, now = Date.now()): number {
    const left = this.#refilled(address, now);
    return left >= 1 ? 0 : Math.ceil((1 - left) / perSecond);
  }

  add(address: string, now = Date.now()) {
    const attempts = Math.max(0, this.#refilled(address, now) - 1);
    this.#left.delete(address);
    this.#left.set(address, { attempts, at: now });
    const [oldest] = this.#left.keys();
    if (this.#left.size > addresses && oldest !== undefined) this.#left.delete(oldest);
  }

  #refilled(address: string, now: number): number {
    const seen = this.#left.get(address);
    return seen ? Math.min(burst, seen.attempts + ((now - seen.at) / 1000) * perSecond) : burst;
  }
}

/** Who has lost how much of the stream: by session, so that a quiet session's long message counts as whole. Bounded. */
export class Losses {
  readonly #bySession = new Map<string | undefined, number>();
  /** Of sessions that are not told apart any more. */
  #floor = 0;
  #newest = 0;

  add({ n, event }: { readonly n: number; readonly event: { readonly sessionKey?: string } }) {
    this.#newest = Math.max(this.#newest, n);
    this.#bySession.delete(event.sessionKey);
    this.#bySession.set(event.sessionKey, n);
    const [oldest] = this.#bySession;
    if (!oldest || this.#bySession.size <= 1_000) return;
    this.#bySession.delete(oldest[0]);
    this.#floor = Math.max(this.#floor, oldest[1]);
  }

  /** The newest number lost to a session; without one, to anybody. */
  of(sessionKey: string | undefined): number {
    if (sessionKey === undefined) return this.#newest;
    return Math.max(this.#floor, this.#bySession.get(sessionKey) ?? 0);
  }
}

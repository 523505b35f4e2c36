/** What a command wrote: whole while it is short, else its beginning and its end, with a mark between. */
export class Output {
  #head = '';
  #tail = '';
  #left = 0;
  readonly #decoder = new TextDecoder();
  readonly #headChars: number;
  readonly #tailChars: number;

  constructor({ head = 10_000, tail = 20_000 } = {}) {
    this.#headChars = head;
    this.#tailChars = tail;
  }

  push(chunk: Buffer) {
    const text = this.#decoder.decode(chunk, { stream: true }).replaceAll('\0', '\uFFFD');
    const room = this.#headChars - this.#head.length;
    this.#head += text.slice(0, room);
    this.#tail += text.slice(room);
    // Cut seldom: a slice for every small chunk would copy the tail each time.
    if (this.#tail.length > 2 * this.#tailChars) this.#cut();
  }

  /** The end of it, for someone who watches. */
  latest(chars: number): string {
    return (this.#head + this.#tail).slice(-chars);
  }

  text(): string {
    if (this.#tail.length > this.#tailChars) this.#cut();
    const mark = this.#left > 0 ? `\n[… ${this.#left} characters left out …]\n` : '';
    return this.#head + mark + this.#tail;
  }

  #cut() {
    this.#left += this.#tail.length - this.#tailChars;
    this.#tail = this.#tail.slice(-this.#tailChars);
  }
}

/** Of marks: nobody outside can guess it. */
export const newNonce = (): string => crypto.randomUUID().replaceAll('-', '').slice(0, 16);

const known = new Map<string, string>();
let seeds: Uint32Array | undefined;

/**
 * The same for the same text while it is remembered, so that what is sent again with each request stays byte-stable. It is drawn when
 * the text is there already: no text can hold its own.
 */
export function nonceOf(...texts: readonly string[]): string {
  const key = digestOf(JSON.stringify(texts));
  const old = known.get(key);
  if (old !== undefined) return old;
  if (known.size >= 5000) known.clear();
  const nonce = newNonce();
  known.set(key, nonce);
  return nonce;
}

/** Names a text in few bytes. Seeded: nobody outside can make two texts that have one name. */
function digestOf(text: string): string {
  seeds ??= crypto.getRandomValues(new Uint32Array(2));
  let [a = 0, b = 0] = seeds;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 2_654_435_761);
    b = Math.imul(b ^ unit, 1_597_334_677);
    a ^= a >>> 15;
    b ^= b >>> 13;
  }
  return `${text.length}.${(a >>> 0).toString(36)}.${(b >>> 0).toString(36)}`;
}

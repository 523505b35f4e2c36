import { createHash } from 'node:crypto';

/** What would break a key apart, or could not be read or typed by a person. */
const odd = /[%:/\\\s\p{C}]/u;
const longest = 200;

/**
 * An id as one part of a session key: usual ones stay as they are, and two ids never become the same part. `%3A` is `:`, `%uD800` half
 * a surrogate pair, `%` alone nothing at all. What is too long for a key ends in `%~` and its hash, and cannot be read back.
 */
export function encodePart(id: string): string {
  if (id === '') return '%';
  const part = Array.from(id, (char) => (odd.test(char) ? encodeChar(char) : char)).join('');
  if (part.length <= longest) return part;
  return `${Array.from(part).slice(0, 60).join('')}%~${createHash('sha256').update(Buffer.from(id, 'utf16le')).digest('base64url')}`;
}

const encodeChar = (char: string) =>
  char.isWellFormed() ? encodeURIComponent(char) : `%u${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Undefined where it is none of ours, or cannot be read back. */
export function decodePart(part: string): string | undefined {
  if (part === '%') return '';
  if (part === '' || part.includes('%~')) return undefined;
  try {
    return part.replace(/%u([0-9A-F]{4})|(?:%[0-9A-F]{2})+|%/g, (run, half?: string) =>
      half ? String.fromCharCode(Number.parseInt(half, 16)) : decodeURIComponent(run),
    );
  } catch {
    return undefined; // a `%` that we never wrote
  }
}

import type { IncomingMessage } from 'node:http';
import { type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';

export interface Body {
  readonly bytes: Uint8Array;
  readonly truncated: boolean;
}

export const encodings = 'gzip, deflate, br, zstd';
const unpackers: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** Reads up to the limit, counted after unpacking: a small answer may unpack to gigabytes. */
export async function readBody(answer: IncomingMessage, maxBytes: number): Promise<Body> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of unpacked(answer) as AsyncIterable<Buffer>) {
      parts.push(chunk);
      size += chunk.length;
      if (size > maxBytes) return { bytes: Buffer.concat(parts).subarray(0, maxBytes), truncated: true };
    }
  } finally {
    answer.destroy();
  }
  return { bytes: Buffer.concat(parts), truncated: false };
}

function unpacked(answer: IncomingMessage): Readable {
  const names = (answer.headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  const make = names.length === 1 ? unpackers[names[0] ?? ''] : undefined;
  if (!make) return answer;
  const unpack = make();
  answer.on('error', (error) => unpack.destroy(error));
  unpack.on('close', () => answer.destroy());
  return answer.pipe(unpack);
}

/** By what the answer says of itself; an unknown charset is read as UTF-8. */
export function decoded(bytes: Uint8Array, contentType: string): string {
  const head = Buffer.from(bytes.subarray(0, 1024)).toString('latin1');
  const label = charsetIn(contentType) ?? (contentType.includes('html') ? charsetIn(head) : undefined) ?? 'utf-8';
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

const charsetIn = (text: string) => /charset\s*=\s*["']?([\w:.-]+)/i.exec(text)?.[1];

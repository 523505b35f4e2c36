import type { Stats } from 'node:fs';
import { KernelError } from '../../kernel/index.ts';
import { isFolder, type Fence, openUnder } from './path-guard.ts';

/** A whole text file with `\n` line ends, and the way back to its own. */
export interface TextFile {
  readonly name: string;
  readonly text: string;
  readonly stats: Stats;
  restore(text: string): string;
}

const maxBytes = 5_000_000;

/** Reads a file that is to be changed. What cannot be written back byte for byte is refused. */
export async function readTextFile(fence: Fence, path: string): Promise<TextFile> {
  await using opened = await openUnder(fence, path);
  const { name, stats, kind, handle } = opened;
  if (kind === 'folder') throw isFolder(path);
  if (stats.size > maxBytes) {
    throw new KernelError('FILE_TOO_LARGE', `"${name}" has ${stats.size} bytes, the limit for edits is ${maxBytes}; use exec`);
  }
  const raw = decode(name, await handle.readFile());
  const crlf = raw.includes('\r\n') && !/(?:^|[^\r])\n/.test(raw);
  return {
    name,
    stats,
    text: crlf ? raw.replaceAll('\r\n', '\n') : raw,
    restore: (text) => (crlf ? text.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n') : text),
  };
}

function decode(name: string, bytes: Buffer): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // not UTF-8: refused below, like NUL
  }
  throw new KernelError('FILE_BINARY', `"${name}" is not UTF-8 text; editing would damage it`);
}

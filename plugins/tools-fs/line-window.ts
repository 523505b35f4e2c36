import type { FileHandle } from 'node:fs/promises';

export interface LineWindow {
  readonly text: string;
  /** Line number after the last one shown. */
  readonly next: number;
  /** More lines follow. */
  readonly more: boolean;
  /** The last line shown is longer than the cap and was cut. */
  readonly cut: boolean;
}

export interface Window {
  /** First line, from 1. */
  readonly offset: number;
  readonly lines: number;
  readonly bytes: number;
}

const chunkBytes = 65_536;

/** Reads a window of lines without holding more of the file than is shown. */
export async function readLines(file: FileHandle, window: Window, signal: AbortSignal): Promise<LineWindow> {
  const { offset, lines, bytes } = window;
  const kept: Buffer[] = [];
  const upTo = (parts: number, next: number, cut = false) => ({ text: decode(kept.slice(0, parts)), next, more: true, cut });
  let [line, size, whole, isOpen] = [1, 0, 0, false];
  for await (const chunk of chunks(file, signal)) {
    for (const { part, ended } of partsOf(chunk)) {
      isOpen = !ended;
      if (line >= offset + lines) return upTo(kept.length, line);
      if (line >= offset && size + part.length > bytes) {
        if (whole > 0) return upTo(whole, line);
        kept.push(part.subarray(0, bytes - size));
        return upTo(kept.length, line + 1, true);
      }
      if (line >= offset) {
        kept.push(part);
        size += part.length;
      }
      if (ended) {
        whole = kept.length;
        line++;
      }
    }
  }
  return { text: decode(kept), next: isOpen ? line + 1 : line, more: false, cut: false };
}

const newline = 10;

/** A chunk's lines; the last may go on in the next chunk. */
function* partsOf(chunk: Buffer) {
  for (let from = 0; from < chunk.length; ) {
    const end = chunk.indexOf(newline, from) + 1 || chunk.length;
    yield { part: chunk.subarray(from, end), ended: chunk[end - 1] === newline };
    from = end;
  }
}

async function* chunks(file: FileHandle, signal: AbortSignal): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    signal.throwIfAborted();
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

const decode = (parts: readonly Buffer[]) => new TextDecoder().decode(Buffer.concat(parts)).replaceAll('\r\n', '\n');

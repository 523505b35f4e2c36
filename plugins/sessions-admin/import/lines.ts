import { createReadStream } from 'node:fs';

/** A line of a file, without its end. */
export interface Line {
  readonly number: number;
  readonly bytes: Buffer;
  /** Longer than the limit: `bytes` is empty, and this says by what. */
  readonly tooLong?: string;
  /** Nothing ends it: the last one of a file whose writer died, or is at work. */
  readonly isOpen: boolean;
}

export const longestLine = 32 * 1024 * 1024;

/** Line by line, however large the file: what is held is one line. */
export async function* linesOf(file: string, longest = longestLine): AsyncGenerator<Line> {
  let [number, length]: [number, number] = [1, 0];
  let parts: Buffer[] = [];
  const take = (part: Buffer) => {
    length += part.length;
    if (length > longest) parts = [];
    else if (part.length) parts.push(part);
  };
  const ended = (isOpen: boolean): Line => {
    const line = {
      number,
      bytes: Buffer.concat(parts),
      isOpen,
      ...(length > longest && { tooLong: `it has ${length} bytes, more than ${longest}` }),
    };
    [number, length, parts] = [number + 1, 0, []];
    return line;
  };
  for await (const chunk of createReadStream(file, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let to = chunk.indexOf(10); to >= 0; to = chunk.indexOf(10, from)) {
      take(chunk.subarray(from, to));
      yield ended(false);
      from = to + 1;
    }
    take(chunk.subarray(from));
  }
  if (length > 0) yield ended(true);
}

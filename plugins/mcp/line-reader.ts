/** Chunks in, whole lines out. What is held of a line that has not ended is copied once, at its end. */
export function lineReader(maxBytes: number, onLine: (line: string) => void, tooLong: () => void): (chunk: Buffer) => void {
  let held: Buffer[] = [];
  let size = 0;
  return (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      onLine(
        Buffer.concat([...held, chunk.subarray(from, end)])
          .toString('utf8')
          .trim(),
      );
      [held, size, from] = [[], 0, end + 1];
    }
    held.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size <= maxBytes) return;
    [held, size] = [[], 0];
    tooLong();
  };
}

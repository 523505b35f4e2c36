/** The same bytes in pieces that are worth a call to the system. */
export async function* batches(lines: AsyncIterable<Buffer>, worth = 256 * 1024): AsyncGenerator<Buffer> {
  let [parts, size]: [Buffer[], number] = [[], 0];
  for await (const line of lines) {
    parts.push(line);
    size += line.length;
    if (size < worth) continue;
    yield Buffer.concat(parts);
    [parts, size] = [[], 0];
  }
  if (size > 0) yield Buffer.concat(parts);
}

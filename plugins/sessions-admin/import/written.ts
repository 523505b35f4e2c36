import { randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { batches } from './batches.ts';

/** Whole or not at all: a crash leaves at most a file of another name. Once all is written, `done` is to call `place`. */
export async function writeWhole<T>(
  file: string,
  lines: AsyncIterable<Buffer>,
  done: (place: (aside: string | undefined) => void) => Promise<T>,
): Promise<T> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID().slice(0, 8)}.importing`;
  try {
    await writeLines(draft, lines);
    return await done((aside) => {
      if (aside) renameSync(file, aside);
      renameSync(draft, file);
    });
  } finally {
    await rm(draft, { force: true });
  }
}

async function writeLines(file: string, lines: AsyncIterable<Buffer>) {
  await using handle = await open(file, 'wx', 0o600);
  for await (const batch of batches(lines)) await handle.writeFile(batch); // goes on where the last one ended
}

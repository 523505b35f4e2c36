import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { batches } from './batches.ts';

export interface Placing {
  /** Where what was there is moved to. */
  readonly aside: string | undefined;
  /** Asked once all is written, before anything takes its place: long files take time. */
  readonly isStillSo: () => Promise<boolean>;
}

/** Whole or not at all: a crash leaves at most a file of another name. False, and nothing done, where it is no more so. */
export async function writeWhole(file: string, lines: AsyncIterable<Buffer>, { aside, isStillSo }: Placing): Promise<boolean> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID().slice(0, 8)}.importing`;
  try {
    await writeLines(draft, lines);
    if (!(await isStillSo())) return false;
    if (aside) await rename(file, aside);
    await rename(draft, file);
    return true;
  } finally {
    await rm(draft, { force: true });
  }
}

async function writeLines(file: string, lines: AsyncIterable<Buffer>) {
  await using handle = await open(file, 'wx', 0o600);
  for await (const batch of batches(lines)) await handle.writeFile(batch); // goes on where the last one ended
}

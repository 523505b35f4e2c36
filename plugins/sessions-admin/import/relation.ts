import { type FileHandle, open } from 'node:fs/promises';
import { batches } from './batches.ts';

/** How a file here stands to what an import would write there. `ahead`: it says all of it, and more. `behind`: only a part. */
export type Relation = 'none' | 'same' | 'ahead' | 'behind' | 'differs';

/** Reads `lines` to their end in any case: whoever made them learns from it. */
export async function relationOf(file: string, lines: AsyncIterable<Buffer>): Promise<Relation> {
  const here = await open(file).catch((error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? undefined : Promise.reject(error)));
  try {
    let [relation, at]: [Relation, number] = [here ? 'same' : 'none', 0];
    const size = here ? (await here.stat()).size : 0;
    for await (const bytes of batches(lines)) {
      if (!here || relation === 'differs') continue;
      if (!(await isAt(here, at, bytes.subarray(0, Math.max(0, size - at))))) relation = 'differs';
      at += bytes.length;
    }
    if (relation !== 'same' || at === size) return relation;
    return at < size ? 'ahead' : 'behind';
  } finally {
    await here?.close();
  }
}

async function isAt(file: FileHandle, at: number, bytes: Buffer): Promise<boolean> {
  if (bytes.length === 0) return true;
  const found = Buffer.allocUnsafe(bytes.length);
  for (let read = 0; read < bytes.length; ) {
    const { bytesRead } = await file.read(found, read, bytes.length - read, at + read);
    if (bytesRead === 0) return false;
    read += bytesRead;
  }
  return found.equals(bytes);
}

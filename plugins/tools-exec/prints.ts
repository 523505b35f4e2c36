import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';

/** Files as they were when they were judged: path → print. */
export type Prints = ReadonlyMap<string, string>;

interface Print {
  readonly text: string;
  readonly sha256?: string;
}

/** Files up to here are compared by content as well: times of files have steps of some milliseconds. */
const maxHashed = 1_048_576;

/** Changes whenever the file, or what its path leads to, does: the change time cannot be set back. */
async function printOf(path: string): Promise<Print> {
  try {
    const real = await realpath(path);
    const stats = await stat(real, { bigint: true });
    const { dev, ino, size, mtimeNs, ctimeNs } = stats;
    const hash = stats.isFile() && size <= maxHashed ? await sha256(real) : undefined;
    return { text: [real, dev, ino, size, ...(hash ? [hash] : [mtimeNs, ctimeNs])].join(':'), ...(hash && { sha256: hash }) };
  } catch {
    return { text: 'absent' };
  }
}

export async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Files as one judgement sees them: each is read once, so that one content is judged, shown, kept and compared. */
export interface Sight {
  prints(files: Iterable<string>): Promise<Prints>;
  /** Undefined where it cannot be read, or changed meanwhile. */
  sha256(path: string): Promise<string | undefined>;
}

export function openSight(): Sight {
  const seen = new Map<string, Promise<Print>>();
  const look = (path: string): Promise<Print> => {
    const print = seen.get(path) ?? printOf(path);
    seen.set(path, print);
    return print;
  };
  return {
    prints: async (files) => new Map(await Promise.all([...files].map(async (file) => [file, (await look(file)).text] as const))),
    async sha256(path) {
      const { text, sha256: known } = await look(path);
      if (known !== undefined) return known;
      const hash = await sha256(path).catch(() => undefined);
      return (await printOf(path)).text === text ? hash : undefined;
    },
  };
}

/** The first file that is not what it was; undefined where all are. */
export async function changedSince(before: Prints): Promise<string | undefined> {
  for (const [file, print] of before) if ((await printOf(file)).text !== print) return file;
  return undefined;
}

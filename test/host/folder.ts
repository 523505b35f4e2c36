import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface Folder extends AsyncDisposable {
  readonly path: string;
  write(files: Readonly<Record<string, string | Buffer>>): Promise<void>;
  at(name: string): string;
}

/** A temporary folder with these files; gone at the end. */
export async function folder(files: Readonly<Record<string, string | Buffer>> = {}): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'instar-host-'));
  const made: Folder = {
    path,
    at: (name) => join(path, name),
    async write(more) {
      for (const [name, text] of Object.entries(more)) {
        await mkdir(dirname(join(path, name)), { recursive: true });
        await writeFile(join(path, name), text);
      }
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
  await made.write(files);
  return made;
}

import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');

/** What `npm pack` would ship, built into this folder beside the checkout's dependencies. Tells its bin.js. */
export async function buildPackage(folder: string): Promise<string> {
  const rollup = join(root, 'node_modules/.bin/rollup');
  await promisify(execFile)(rollup, ['-c', '--silent', '--dir', join(folder, 'dist')], { cwd: root });
  const { files } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { readonly files: readonly string[] };
  for (const file of ['package.json', ...files.filter((one) => one !== 'dist')]) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await cp(join(root, file), join(folder, file), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'bin.js');
}

import { createHash, randomUUID } from 'node:crypto';
import { lstatSync, realpathSync, statSync } from 'node:fs';
import { mkdir, readFile, realpath, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { Host, type Run } from '../../kernel/index.ts';
import { isUnder, PathGuard } from '../tools-fs/contract.ts';
import type { Inside, SandboxSettings, Whose, World } from './contract.ts';

/** Accounts inside: no name of this machine's users. */
const passwd = 'root:x:0:0:root:/:/bin/sh\nagent:x:1000:1000:agent:/home/agent:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n';
const group = 'root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n';

/** Folder of all that share one sandbox: `<home>/sandboxes/agent-main`. */
export function scopeFolder(home: string, { scope }: SandboxSettings, { agentId, sessionKey }: Whose): string {
  const key = sessionKey ?? `agent:${agentId}:main`;
  const name = {
    shared: 'shared',
    agent: `agent-${agentId}`,
    session: `session-${agentId}-${createHash('sha256').update(key).digest('hex').slice(0, 16)}`,
  }[scope];
  return join(home, 'sandboxes', name);
}

/** Only the folders below it are ever seen inside, so that what is written there is no way to `accounts`. */
export const pathsOf = (folder: string): World['paths'] => ({
  tmp: join(folder, 'tmp'),
  home: join(folder, 'home'),
  accounts: join(folder, 'accounts'),
});

/** Made at first use. Real paths: a bind follows no link. */
export async function made(
  workspace: string,
  paths: World['paths'],
): Promise<{ readonly workspace: string; readonly paths: World['paths'] }> {
  for (const path of Object.values(paths)) await mkdir(path, { recursive: true, mode: 0o700 });
  await mkdir(workspace, { recursive: true });
  await keep(join(paths.accounts, 'passwd'), passwd);
  await keep(join(paths.accounts, 'group'), group);
  const [tmp, home, accounts] = await Promise.all([realpath(paths.tmp), realpath(paths.home), realpath(paths.accounts)]);
  return { workspace: await realpath(workspace), paths: { tmp, home, accounts } };
}

/** A command that runs now reads the same file: it is never seen half written. */
async function keep(file: string, text: string) {
  if ((await readFile(file, 'utf8').catch(() => undefined)) === text) return;
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, text);
  await rename(draft, file);
}

const system = [
  '/',
  '/bin',
  '/boot',
  '/dev',
  '/etc',
  '/home',
  '/lib',
  '/lib64',
  '/proc',
  '/root',
  '/run',
  '/sbin',
  '/sys',
  '/tmp',
  '/usr',
  '/var',
];

/** Why a folder cannot be the workspace of a sandbox: too much would be seen of this machine, or changed. */
export async function unfit(workspace: string, isWritable: boolean, run: Run): Promise<string | undefined> {
  const home = realOf(run.get(Host).home);
  const cure = 'give the agent one of its own';
  if (system.includes(workspace)) return `its workspace ${workspace} is a folder of the system; ${cure}`;
  if (workspace === home) return `its workspace ${workspace} is the state folder; ${cure}`;
  const guarded = await run.find(PathGuard)?.guarded(run);
  if (!guarded) return 'plugin "tools-fs", which tells what a command may not see, is not live; switch it on';
  if (!isWritable) return undefined;
  const { closed, fixed } = guarded;
  // A mount keeps the state folder out of reach. It would not keep a file: whoever saves one puts another in its place.
  const isCovered = (path: string) => isUnder(workspace, home) && isUnder(home, path);
  const within = [...closed, ...fixed].find((path) => isUnder(workspace, path) && !isCovered(path));
  const around = fixed.find((path) => isUnder(path, workspace));
  if (within === undefined && around === undefined) return undefined;
  const how = around === undefined ? `holds ${within}` : `lies in ${around}`;
  return (
    `its workspace ${workspace} ${how}, by which the gateway finds its config or what it runs, and a command could change that; ` +
    `set sandbox.workspaceAccess to "ro", or ${cure}`
  );
}

/** What of the state, config and secrets lies in what a sandbox shows. */
export async function hiddenIn(workspace: string, readable: readonly string[], run: Run): Promise<Inside['hidden']> {
  const { closed } = await run.get(PathGuard).guarded(run);
  const shown = [{ path: workspace, real: workspace }, ...readable.map((path) => ({ path: resolve(path), real: realOf(path) }))];
  const hidden = shown.flatMap(({ path, real }) => outermost(closed, real).map((one) => join(path, relative(real, one))));
  return [...new Set(hidden)].map((path) => ({ path, isFolder: statSync(path).isDirectory() }));
}

/** What is not there yet, where it would be. */
export function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return dirname(path) === path ? path : join(realOf(dirname(path)), basename(path));
  }
}

/** Those that are there, in a folder or it itself, without what lies in another of them. Of a link its target counts. */
function outermost(paths: readonly string[], folder: string): readonly string[] {
  const isThere = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === false;
  const there = [...new Set(paths)].filter((path) => isUnder(folder, path) && isThere(path));
  return there.filter((path) => !there.some((other) => other !== path && isUnder(other, path)));
}

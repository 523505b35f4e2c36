import { createHash, randomUUID } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import { mkdir, readFile, realpath, rename, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Host } from '../../kernel/index.ts';
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

/** Why a folder cannot be the workspace of a sandbox: too much would be seen of this machine. */
export function unfit(workspace: string, home: string): string | undefined {
  if (system.includes(workspace)) return `its workspace ${workspace} is a folder of the system; give the agent one of its own`;
  const real = realOf(home);
  return workspace === real ? `its workspace ${workspace} is the state folder; give the agent one of its own` : undefined;
}

/** Our state and config, where a workspace is so wide that they lie in it. */
export const hiddenIn = (workspace: string, host: Host): Inside['hidden'] =>
  [host.home, ...(host.configFile === undefined ? [] : [host.configFile]), ...host.sources().config]
    .map(realOf)
    .filter(
      (path, i, all) =>
        path.startsWith(workspace + sep) && !all.slice(0, i).some((other) => path === other || path.startsWith(other + sep)),
    )
    .flatMap((path) => {
      const stats = statSync(path, { throwIfNoEntry: false });
      return stats ? [{ path, isFolder: stats.isDirectory() }] : [];
    });

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // not there: nothing to hide yet
  }
}

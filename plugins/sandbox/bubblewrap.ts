import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { messageOf } from '../../kernel/index.ts';
import type { Launch } from '../tools-exec/contract.ts';
import { isUnder } from '../tools-fs/contract.ts';
import { type Backend, type Inside, insideWorkspace } from './contract.ts';
import { insideEnv, insideHome } from './environment.ts';
import { findProgram, plainPath } from './executable.ts';
import { systemView } from './system-view.ts';

const ask = promisify(execFile);
const outside = { PATH: plainPath };

/** New namespaces for all, so that it sees, signals and outlives nothing else: its PID 1 dies with the process that began it. */
const isolation = [
  '--die-with-parent', '--new-session', '--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try',
  '--uid', '1000', '--gid', '1000', '--hostname', 'sandbox',
]; // biome-ignore format: a list to read across

/** Since 0.8: no namespaces inside, which would open more of the system's kernel to a command. */
const closing = ['--disable-userns'];

/** What was seen working, and whether it can close. */
type Working = { readonly is: string; readonly closes: boolean };

/** What was seen working is not tried again; what was not, is: it may have been installed meanwhile. */
export function bubblewrap(): Backend {
  const worked = new Map<string, Working>();
  return {
    async probe(_settings, hostEnv) {
      const program = findProgram('bwrap', hostEnv);
      if (!program) return { works: false, why: 'bubblewrap is not installed; "apt install bubblewrap" (or dnf, pacman, apk) brings it' };
      if (!findProgram('prlimit', { PATH: plainPath }))
        return { works: false, why: 'prlimit is not installed; "apt install util-linux" brings it' };
      const known = worked.get(program);
      const now = known ?? (await tried(program));
      if ('why' in now) return { works: false, why: now.why };
      worked.set(program, now);
      return { works: true, is: now.is };
    },
    wrap(launch, inside) {
      // Absent only if it was removed just now: then nothing starts.
      const program = findProgram('bwrap', inside.hostEnv) ?? '/usr/bin/bwrap';
      const argv = [program, ...isolation, ...(worked.get(program)?.closes ? closing : []), ...viewOf(launch, inside)];
      return { argv, cwd: '/', env: outside, world: 'sandbox' };
    },
  };
}

async function tried(program: string): Promise<Working | { readonly why: string }> {
  const attempt = (options: readonly string[]) =>
    ask(program, [...isolation, ...options, '--unshare-net', ...systemView(false), '--', '/bin/sh', '-c', ':'], {
      env: outside,
      timeout: 10_000,
    });
  try {
    const { stdout } = await ask(program, ['--version'], { env: outside, timeout: 5_000 });
    const closes = await attempt(closing).then(
      () => true,
      () => false,
    );
    if (!closes) await attempt([]);
    return { is: `${stdout.trim()} (${program})`, closes };
  } catch (error) {
    const { stderr = '' } = error as { readonly stderr?: string };
    const said = stderr.trim() || messageOf(error);
    return { why: `${program} cannot isolate here: ${said.split('\n')[0]}. ${adviceFor(said)}` };
  }
}

function adviceFor(said: string): string {
  if (!/namespace|Operation not permitted|Permission denied|setting up uid map|No space/i.test(said)) return 'Run it by hand to see why';
  return (
    'User namespaces are off: "sysctl -w kernel.unprivileged_userns_clone=1" (Debian), ' +
    '"sysctl -w kernel.apparmor_restrict_unprivileged_userns=0" (Ubuntu 24.04), or run the gateway outside its container'
  );
}

/** What is inside. Later binds lie on earlier ones; `--remount-ro /` leaves writable only what is bound so. */
function viewOf({ argv, cwd, env }: Launch, inside: Inside): readonly string[] {
  const { settings, workspace, isWritable, paths, hidden } = inside;
  const alias =
    workspace === insideWorkspace || workspace.startsWith(`${insideWorkspace}/`) ? [] : ['--symlink', workspace, insideWorkspace];
  return [
    settings.network ? [] : ['--unshare-net'],
    systemView(settings.network),
    ['--ro-bind', `${paths.accounts}/passwd`, '/etc/passwd', '--ro-bind', `${paths.accounts}/group`, '/etc/group'],
    ['--bind', paths.tmp, '/tmp', '--bind', paths.home, insideHome],
    ...settings.readable.map((path) => ['--ro-bind-try', path, path]),
    ...hidden.filter(({ path }) => !isUnder(workspace, path)).map(covered),
    [isWritable ? '--bind' : '--ro-bind', workspace, workspace],
    ...hidden.filter(({ path }) => isUnder(workspace, path)).map(covered),
    ...hidden.filter(({ isFolder }) => isFolder).map(({ path }) => ['--remount-ro', path]),
    alias,
    ['--remount-ro', '/', '--chdir', cwd, '--clearenv'],
    ...Object.entries(insideEnv(env, settings)).map(([name, value]) => ['--setenv', name, value]),
    ['--', ...limited(settings.limits), ...argv],
  ].flat();
}

const covered = ({ path, isFolder }: Inside['hidden'][number]) => (isFolder ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path]);

/** `data` and not `as`: programs such as node reserve far more addresses than they use. */
function limited({ memoryMb, processes, fileMb }: Inside['settings']['limits']): readonly string[] {
  const program = findProgram('prlimit', { PATH: plainPath }) ?? '/usr/bin/prlimit';
  return [program, `--data=${memoryMb * 2 ** 20}`, `--nproc=${processes}`, `--fsize=${fileMb * 2 ** 20}`, '--core=0', '--'];
}

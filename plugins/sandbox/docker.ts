import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Launch } from '../tools-exec/contract.ts';
import { type Backend, type Inside, insideWorkspace } from './contract.ts';
import { insideEnv, insideHome } from './environment.ts';
import { findProgram, plainPath } from './executable.ts';

const ask = promisify(execFile);
type Env = Inside['hostEnv'];

/**
 * The container is another child than ours: killing `docker run` leaves it. So a watcher, in a session of its own that no kill of the
 * command's group reaches, reads a pipe that only `docker run` holds open: once that is gone, however it ended, the container is removed.
 * `docker run` begins when the watcher has said through `ready` that it is out of the group. The exit code is that of the command.
 */
const watched = `
name=$1 docker=$2 ready=$3; shift 3
mkfifo "$ready" || exit 125
exec 7>&2 8>&1
code=$({ { read -r _ <"$ready"; rm -f "$ready"; "$docker" "$@" 9>&1 1>&8 2>&7 6>&- 7>&- 8>&-; echo $? >&6; } |
  setsid sh -c 'echo >"$2"; cat >/dev/null 2>&1; exec "$1" rm --force "$0" >/dev/null 2>&1' "$name" "$docker" "$ready" >/dev/null 2>&1 6>&- 7>&- 8>&-; } 6>&1)
exit "\${code:-137}"`;

/** What was seen working is not asked for again: a daemon that goes away later is told by the command that fails. */
export function docker(): Backend {
  const worked = new Map<string, string>();
  return {
    async probe({ docker: { image } }, hostEnv) {
      const program = findProgram('docker', hostEnv);
      if (!program) return { works: false, why: 'docker is not installed; see https://docs.docker.com/engine/install/' };
      if (!findProgram('setsid', hostEnv)) return { works: false, why: 'setsid is not installed; "apt install util-linux" brings it' };
      const known = worked.get(`${program} ${image}`);
      if (known) return { works: true, is: known };
      const asked = (argv: readonly string[]) => ask(program, argv, { env: clientEnv(hostEnv), timeout: 10_000 });
      const version = await asked(['version', '--format', '{{.Server.Version}}']).catch(() => undefined);
      if (!version)
        return { works: false, why: `${program} reaches no Docker daemon; start it, or add the gateway's user to group docker` };
      const there = await asked(['image', 'inspect', '--format', '{{.Id}}', image]).catch(() => undefined);
      if (!there) return { works: false, why: `image ${image} (sandbox.docker.image) is not there; "docker pull ${image}" brings it` };
      const is = `docker ${version.stdout.trim()} (${program}), image ${image}`;
      worked.set(`${program} ${image}`, is);
      return { works: true, is };
    },
    wrap(launch, inside) {
      const name = `instar-${randomUUID()}`;
      const program = findProgram('docker', inside.hostEnv) ?? '/usr/bin/docker';
      const argv = ['/bin/sh', '-c', watched, 'sh', name, program, join(inside.paths.accounts, name), ...runArgv(launch, inside, name)];
      return { argv, cwd: '/', env: clientEnv(inside.hostEnv), world: 'sandbox' };
    },
  };
}

/** The same over all reloads of this plugin, and of no other process. */
const thisProcess = () => `${process.pid}.${Math.round(performance.timeOrigin)}`;

/** Removes what an earlier gateway of this state folder left: it was killed together with its watchers, or the machine went down. */
export async function removeLeftovers(owner: string, hostEnv: Env): Promise<number> {
  const program = findProgram('docker', hostEnv);
  if (!program) return 0;
  const options = { env: clientEnv(hostEnv), timeout: 10_000 };
  const format = '{{.ID}} {{.Label "instar.process"}}';
  const { stdout } = await ask(program, ['ps', '--all', '--filter', `label=instar=${owner}`, '--format', format], options);
  const lines = stdout.split('\n').map((line) => line.trim().split(' '));
  const ids = lines.flatMap(([id, by]) => (id && by !== thisProcess() ? [id] : []));
  if (ids.length > 0) await ask(program, ['rm', '--force', ...ids], options);
  return ids.length;
}

function runArgv({ argv, cwd, env }: Launch, inside: Inside, name: string): readonly string[] {
  const { settings, workspace, isWritable, paths, hidden, owner } = inside;
  const { limits, docker: own } = settings;
  const memory = `${limits.memoryMb}m`;
  return [
    ['run', '--rm', '--init', '--interactive', '--pull', 'never', '--name', name],
    ['--label', `instar=${owner}`, '--label', `instar.process=${thisProcess()}`],
    ['--network', own.network ?? (settings.network ? 'bridge' : 'none'), '--read-only', '--hostname', 'sandbox'],
    ['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--user', own.user ?? us()],
    ['--memory', memory, '--memory-swap', memory, '--pids-limit', `${limits.processes}`],
    ['--ulimit', `fsize=${limits.fileMb * 2 ** 20}`, '--ulimit', 'core=0', ...(own.cpus ? ['--cpus', `${own.cpus}`] : [])],
    bind(paths.tmp, '/tmp', false),
    bind(paths.home, insideHome, false),
    ...settings.readable.map((path) => bind(path, path, true)),
    ...bothNames(workspace, workspace).map((at) => bind(workspace, at, !isWritable)),
    ...hidden.flatMap(({ path, isFolder }) => bothNames(path, workspace).map((at) => hiding(at, isFolder))),
    ['--workdir', cwd],
    ...Object.entries(insideEnv(withoutPath(env), settings)).map(([key, value]) => ['--env', `${key}=${value}`]),
    [own.image, ...argv],
  ].flat();
}

const bind = (source: string, target: string, isReadOnly: boolean) => [
  '--mount',
  mount({ type: 'bind', source, target, ...(isReadOnly && { readonly: '' }) }),
];
const hiding = (target: string, isFolder: boolean) =>
  isFolder ? ['--mount', mount({ type: 'tmpfs', target })] : bind('/dev/null', target, true);

/** A path in the workspace, under both names that it has inside. */
const bothNames = (path: string, workspace: string) => [...new Set([path, path.replace(workspace, insideWorkspace)])];

/** One CSV record, as docker reads it: a path with a comma or a quote stays one field. */
const mount = (fields: Readonly<Record<string, string>>) =>
  Object.entries(fields)
    .map(([key, value]) => (value === '' ? key : `${key}=${value}`))
    .map((field) => (/[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field))
    .join(',');

/** The image has its own. */
const withoutPath = (env: Launch['env']) => Object.fromEntries(Object.entries(env).filter(([name]) => name !== 'PATH'));

const us = () => `${process.getuid?.() ?? 1000}:${process.getgid?.() ?? 1000}`;

/** For docker's client: how to reach its daemon. Of the command's own variables it sees none. */
function clientEnv(hostEnv: Env): Record<string, string> {
  const passed = Object.entries(hostEnv).filter(
    ([name, value]) =>
      value !== undefined && /^(HOME|XDG_RUNTIME_DIR|DOCKER_(HOST|CONTEXT|CONFIG|CERT_PATH|TLS_VERIFY|API_VERSION))$/.test(name),
  );
  return { ...(Object.fromEntries(passed) as Record<string, string>), PATH: hostEnv['PATH'] ?? plainPath };
}

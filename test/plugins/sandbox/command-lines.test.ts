import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { textOf } from '../../support/toolbench.ts';
import { bench, launchOf, programs } from './bench.ts';

/** Says that it works, and writes down each call. */
const fakeBwrap = 'case "$1" in --version) echo bubblewrap 9.9.9;; esac\nprintf "%s\\n" "$*" >> "${0%/*}/calls"';
/** `run` does what is in the file `run`, where there is one. */
const fakeDocker = `printf "%s\\n" "$*" >> "\${0%/*}/calls"
case "$1" in
  version) echo 27.0.1;;
  image) [ "$5" != missing ];;
  ps) printf 'old1 4242.1\\nold2\\n';;
  run) [ -f "\${0%/*}/run" ] && . "\${0%/*}/run";;
esac`;

const joined = (argv: readonly string[]) => ` ${argv.join(' ')} `;

const lines: readonly (readonly [what: string, settings: object, has: readonly string[], lacks: readonly string[]])[] = [
  [
    'as it is',
    {},
    ['--die-with-parent', '--unshare-net', '--unshare-user', '--unshare-pid', '--clearenv', '--remount-ro /', '--disable-userns'],
    ['--dev-bind', '--share-net', ' /etc ', '--bind / ', '--ro-bind / '],
  ],
  ['with the network', { network: true }, ['--ro-bind-try /etc/resolv.conf'], ['--unshare-net']],
  ['with the workspace', { workspaceAccess: 'rw' }, ['--bind {ws} {ws}', '--symlink {ws} /workspace'], ['--ro-bind {ws}']],
  ['with the workspace read-only', { workspaceAccess: 'ro' }, ['--ro-bind {ws} {ws}'], ['--bind {ws}']],
  ['without the workspace', { workspaceAccess: 'none' }, ['--bind {home}/sandboxes/agent-main/workspace'], ['{ws}']],
  [
    'with limits',
    { limits: { memoryMb: 64, processes: 7, fileMb: 2 } },
    ['--data=67108864 --nproc=7 --fsize=2097152 --core=0 -- /bin/sh'],
    [],
  ],
  ['with a folder to read', { readable: ['/opt/x'] }, ['--ro-bind-try /opt/x /opt/x'], []],
  ['with variables', { env: { CI: '1' } }, ['--setenv CI 1', '--setenv HOME /home/agent'], []],
];
test.each(lines)('SPEC 4.5: the command line of bubblewrap, %s', async (_, settings, has, lacks) => {
  await using bin = await programs({ bwrap: fakeBwrap });
  await using at = await bench({ sandbox: { backend: 'bubblewrap', ...settings }, env: { PATH: bin.PATH } });
  const { argv, cwd, env, world } = await at.wrap(launchOf(at.workspace, { env: { HOME: '/root', A: 'b' } }));
  const filled = (part: string) => part.replaceAll('{ws}', at.workspace).replaceAll('{home}', at.test.home);
  expect({ program: argv[0], cwd, env: Object.keys(env), world }).toEqual({
    program: join(bin.path, 'bwrap'),
    cwd: '/',
    env: ['PATH'],
    world: 'sandbox',
  });
  for (const part of has) expect(joined(argv)).toContain(filled(part));
  for (const part of lacks) expect(joined(argv).replace(`--chdir ${at.workspace}`, '')).not.toContain(filled(part));
  expect(joined(argv)).toContain('--setenv A b');
  expect(argv.slice(-3)).toEqual(['/bin/sh', '-c', 'true']);
});

const broken: readonly (readonly [
  what: string,
  files: Record<string, string>,
  settings: Readonly<Record<string, unknown>>,
  says: RegExp,
])[] = [
  ['nothing is installed', {}, {}, /bubblewrap is not installed; "apt install bubblewrap".*; or docker is not installed/],
  ['bubblewrap is named and not installed', { docker: fakeDocker }, { backend: 'bubblewrap' }, /bubblewrap is not installed/],
  [
    'namespaces are off',
    { bwrap: '[ "$1" = --version ] && exit 0; echo "bwrap: No permissions to create new namespace" >&2; exit 1' },
    { backend: 'bubblewrap' },
    /No permissions to create new namespace. User namespaces are off: "sysctl/,
  ],
  ['no daemon answers', { docker: '[ "$1" != version ]' }, { backend: 'docker' }, /reaches no Docker daemon/],
  ['the image is missing', { docker: fakeDocker }, { backend: 'docker', docker: { image: 'missing' } }, /"docker pull missing" brings it/],
];
test.each(broken)(
  'SPEC 4.5: where %s, nothing runs and nothing is read, and the refusal says what to do',
  async (_, files, settings, says) => {
    await using bin = await programs({ ...files, setsid: 'exec /usr/bin/setsid "$@"' });
    await using at = await bench({ sandbox: settings, env: { PATH: bin.path } });
    const result = await at.call('exec', { command: `touch ${at.workspace}/ran` });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(says);
    expect(textOf(result)).toContain('to give the sandbox up set agents.defaults.sandbox.mode to "off"');
    expect(existsSync(join(at.workspace, 'ran'))).toBe(false);
  },
);

test('S9: without the plugin a sandboxed run starts nothing on the host', async () => {
  const { default: toolsExec } = await import('../../../plugins/tools-exec/index.ts');
  const { default: toolsFs } = await import('../../../plugins/tools-fs/index.ts');
  const { allowAll, toolbench } = await import('../../support/toolbench.ts');
  await using at = await toolbench([toolsFs, toolsExec, allowAll]);
  const subject = { agent: 'main', sandboxed: true };
  expect(textOf(await at.call('exec', { command: 'touch ran' }, { subject }))).toMatch(/sandboxed and no sandbox took it; nothing was run/);
  expect(textOf(await at.call('write', { path: 'ran', content: '' }, { subject }))).toMatch(/failed/);
  expect(existsSync(join(at.workspace, 'ran'))).toBe(false);
});

test('SPEC 4.5: the command line of Docker', async () => {
  await using bin = await programs({ docker: fakeDocker });
  const settings = {
    backend: 'docker',
    workspaceAccess: 'ro',
    limits: { memoryMb: 64, processes: 7, fileMb: 2 },
    docker: { cpus: 1.5, user: '1000:1000' },
    env: { CI: '1' },
  };
  await using at = await bench({ sandbox: settings, env: { PATH: bin.PATH, DOCKER_HOST: 'unix:///x', SECRET: 'leak' } });
  const { argv, env, world } = await at.wrap(launchOf(at.workspace, { env: { PATH: '/host', DOCKER_HOST: 'evil', A: 'b' } }));
  expect(world).toBe('sandbox');
  expect(env).toEqual({ PATH: bin.PATH, DOCKER_HOST: 'unix:///x' });
  const line = joined(argv);
  for (const part of [
    'run --rm --init --interactive --pull never --name instar-',
    '--network none --read-only',
    '--cap-drop ALL --security-opt no-new-privileges --user 1000:1000',
    '--memory 64m --memory-swap 64m --pids-limit 7',
    '--ulimit fsize=2097152 --ulimit core=0 --cpus 1.5',
    `--mount type=bind,source=${at.workspace},target=${at.workspace},readonly`,
    `--mount type=bind,source=${at.workspace},target=/workspace,readonly`,
    `--workdir ${at.workspace}`,
    '--env A=b',
    '--env CI=1',
    'debian:bookworm-slim /bin/sh -c true',
  ])
    expect(line).toContain(part);
  expect(line).not.toContain('--env PATH=');
  expect(line).not.toContain('--privileged');
});

test('a path with a comma or a quote is one field of a mount', async () => {
  await using bin = await programs({ docker: fakeDocker });
  await using at = await bench({ sandbox: { backend: 'docker', readable: ['/opt/a,readonly="x"'] }, env: { PATH: bin.PATH } });
  const { argv } = await at.wrap(launchOf(at.workspace));
  expect(argv).toContain('type=bind,"source=/opt/a,readonly=""x""","target=/opt/a,readonly=""x""",readonly');
});

test('a command in Docker gives its output, its input and its exit code through', async () => {
  await using bin = await programs({ docker: fakeDocker, run: 'cat; echo err >&2; exit 7' });
  await using at = await bench({ sandbox: { backend: 'docker' }, env: { PATH: bin.PATH } });
  const { argv, env } = await at.wrap(launchOf(at.workspace));
  const asked = promisify(execFile)(argv[0] ?? '', argv.slice(1), { env });
  asked.child.stdin?.end('in');
  await expect(asked).rejects.toMatchObject({ code: 7, stdout: 'in', stderr: 'err\n' });
});

test('SPEC 4.6: killing the command outright removes its container', async () => {
  await using bin = await programs({ docker: fakeDocker, run: 'echo up; exec sleep 31236.5' });
  await using at = await bench({ sandbox: { backend: 'docker' }, env: { PATH: bin.PATH } });
  const { argv, env } = await at.wrap(launchOf(at.workspace));
  const child = spawn(argv[0] ?? '', argv.slice(1), { env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout, 'data');
  process.kill(-(child.pid ?? 0), 'SIGKILL');
  const name = argv[argv.indexOf('--name') + 1];
  const calls = () => readFile(join(bin.path, 'calls'), 'utf8');
  await expect.poll(calls, { interval: 20, timeout: 10_000 }).toContain(`rm --force ${name}\n`);
});

test('containers of an earlier gateway are removed at the start, and none where no agent uses Docker', async () => {
  await using bin = await programs({ docker: fakeDocker });
  const calls = () => readFile(join(bin.path, 'calls'), 'utf8').catch(() => '');
  {
    await using at = await bench({ sandbox: { backend: 'docker' }, env: { PATH: bin.PATH } });
    await expect.poll(calls, { interval: 20, timeout: 10_000 }).toContain('rm --force old1 old2\n');
    expect(at.workspace).toBeTruthy();
  }
  await using idle = await bench({ sandbox: { mode: 'off', backend: 'docker' }, env: { PATH: bin.PATH } });
  const before = await calls();
  await idle.call('read', { path: '.' }, { sandboxed: false });
  expect(await calls()).toBe(before);
});

test('SPEC 4.5: with the workspace read-only, file tools read it and change nothing', async () => {
  await using bin = await programs({ bwrap: fakeBwrap });
  await using at = await bench({ sandbox: { workspaceAccess: 'ro' }, env: { PATH: bin.PATH } });
  await writeFile(join(at.workspace, 'a.txt'), 'mine');
  expect(textOf(await at.call('read', { path: '/workspace/a.txt' }))).toContain('mine');
  const patch = (line: string) => ({ input: `*** Begin Patch\n*** ${line}\n*** End Patch` });
  const changes = [
    ['write', { path: 'a.txt', content: 'evil' }],
    ['write', { path: 'new.txt', content: 'evil' }],
    ['edit', { path: 'a.txt', oldText: 'mine', newText: 'evil' }],
    ['apply_patch', patch('Delete File: a.txt')],
    ['apply_patch', patch('Add File: new.txt\n+evil')],
  ] as const;
  for (const [name, args] of changes)
    expect([name, textOf(await at.call(name, args))]).toEqual([
      name,
      expect.stringMatching(/cannot be written: the sandbox has the workspace read-only/),
    ]);
  expect([await readdir(at.workspace), await readFile(join(at.workspace, 'a.txt'), 'utf8')]).toEqual([['a.txt'], 'mine']);
});

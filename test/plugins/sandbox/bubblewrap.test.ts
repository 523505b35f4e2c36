import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { textOf } from '../../support/toolbench.ts';
import { type Bench, bench, launchOf, noBubblewrap, programs } from './bench.ts';

if (noBubblewrap) console.warn(`\nSKIPPED: the tests of the real sandbox. ${noBubblewrap}\n`);

describe.skipIf(noBubblewrap)('SPEC 4.5: a command in bubblewrap', () => {
  const seen: readonly (readonly [what: string, command: string, expected: string | RegExp])[] = [
    ['runs in the workspace, which has its own path', 'pwd', /\/ws\n\[exit code 0\]$/],
    ['finds the workspace at /workspace too', 'cd /workspace && ls', 'a.txt\n[exit code 0]'],
    ['is not root', 'id -u; id -un', '1000\nagent\n[exit code 0]'],
    ['has no capability', 'grep CapEff /proc/self/status', /CapEff:\t0000000000000000/],
    ['sees its own processes alone', 'ls /proc | grep -c "^[0-9]"', /^[1-9]\n/],
    ['cannot write to the system', 'touch /usr/x; touch /etc/x; touch /x; true', /(Read-only file system[^]*){3}/],
    ['cannot write through a remount', 'mount -o remount,rw /usr; true', /(must be superuser|permission denied|only root)/i],
    ['has no accounts of this machine', 'cut -d: -f1 /etc/passwd | tr "\\n" " "', 'root agent nobody \n[exit code 0]'],
    ['has no passwords of this machine', 'cat /etc/shadow', /No such file/],
    ['has no home of this machine', 'ls /root /home', /\/home:\nagent\n/],
    ['has no state folder of ours', 'ls ../home', /No such file/],
    ['has no network', 'cat /proc/net/dev | tail -n +3 | cut -d: -f1', /^ *lo\n\[exit/],
    ['has a /tmp to write to', 'echo x > /tmp/x && cat /tmp/x', 'x\n[exit code 0]'],
    ['has a home to write to', 'echo x > ~/x && cat ~/x && echo $HOME', 'x\n/home/agent\n[exit code 0]'],
    ['cannot make namespaces with rights of its own', 'unshare --user --map-root-user id -u', /unshare failed|No space|not permitted/],
    ['is limited in files', 'ulimit -f; ulimit -u; ulimit -c', /^(1024|2048)\n64\n0\n/],
    ['has the pipes of a shell', 'seq 3 | (exec cat) >/dev/stderr', '1\n2\n3\n[exit code 0]'],
    ['tells its exit code', 'exit 7', '[exit code 7]'],
  ];
  let shared: Bench;
  beforeAll(async () => {
    shared = await bench({ sandbox: { workspaceAccess: 'rw', limits: { fileMb: 1, processes: 64 } } });
    await writeFile(join(shared.workspace, 'a.txt'), 'inside');
  });
  afterAll(() => shared[Symbol.asyncDispose]());
  test.each(seen)('S9: %s', async (_, command, expected) => {
    const shown = await shared.exec(command);
    expect(shown).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected));
  });

  test('a server on this machine is out of reach, unless the network is allowed', async () => {
    await using server = createServer((socket) => socket.end('hello\n')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const command = `(exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3) 2>&1`;
    await using shut = await bench();
    expect(await shut.exec(command)).toMatch(/refused|unreachable/);
    await using open = await bench({ sandbox: { network: true } });
    expect(await open.exec(command)).toContain('hello');
  });

  test.each([
    ['rw', /^mine\n\[/, true],
    ['ro', /^mine\n.*Read-only file system/s, false],
    ['none', /No such file[^]*\[exit code 0\]/, false],
  ] as const)('workspaceAccess %s', async (workspaceAccess, expected, isWritten) => {
    await using at = await bench({ sandbox: { workspaceAccess } });
    await writeFile(join(at.workspace, 'own.txt'), 'mine\n');
    expect(await at.exec('cat own.txt; echo new > new.txt')).toMatch(expected);
    expect((await readdir(at.workspace)).includes('new.txt')).toBe(isWritten);
  });

  test('files and commands are of one world: what one writes the other reads, with one name', async () => {
    for (const workspaceAccess of ['none', 'rw'] as const) {
      await using at = await bench({ sandbox: { workspaceAccess } });
      await at.call('write', { path: '/workspace/deep/a.txt', content: 'by write' });
      expect(await at.exec('cat /workspace/deep/a.txt; echo " by exec" >> deep/a.txt')).toContain('by write');
      expect(textOf(await at.call('read', { path: 'deep/a.txt' }))).toContain('by write by exec');
      await at.call('edit', { path: 'deep/a.txt', oldText: 'by write', newText: 'edited' });
      await at.call('apply_patch', { input: '*** Begin Patch\n*** Add File: /workspace/new.txt\n+patched\n*** End Patch' });
      expect(await at.exec('cat deep/a.txt new.txt')).toContain('edited by exec\npatched');
      expect(textOf(await at.call('exec', { command: 'cat a.txt', cwd: '/workspace/deep' }))).toContain('edited by exec');
    }
  });

  test.each([
    ['session', false, false],
    ['agent', true, false],
    ['shared', true, true],
  ])('scope %s says who shares /tmp, home and the folder', async (scope, same, others) => {
    await using at = await bench({ sandbox: { scope } });
    const [one, two, three] = [
      { sessionKey: 'agent:main:one' },
      { sessionKey: 'agent:main:two' },
      { agentId: 'other', sessionKey: 'agent:other:one' },
    ];
    await at.exec('touch /tmp/mark ~/mark mark', one);
    const look = 'ls /tmp/mark ~/mark mark 2>/dev/null | wc -l';
    expect(await at.exec(look, two)).toContain(same ? '3\n' : '0\n');
    expect(await at.exec(look, three)).toContain(others ? '3\n' : '0\n');
  });

  test('S9: variables of a command reach no program outside, not even those that load code', async () => {
    await using at = await bench({ sandbox: { workspaceAccess: 'rw' } });
    const mark = join(at.workspace, 'outside');
    await writeFile(join(at.workspace, 'env.sh'), `echo "$$ $(id -u)" >> ${mark}\n`);
    const env = { BASH_ENV: join(at.workspace, 'env.sh'), ENV: join(at.workspace, 'env.sh'), LD_PRELOAD: join(at.workspace, 'evil.so') };
    await at.call('exec', { command: 'true', env });
    const launch = await at.wrap(launchOf(at.workspace, { env }));
    expect(Object.keys(launch.env)).toEqual(['PATH']);
    const users = (await readFile(mark, 'utf8').catch(() => '')).split('\n').filter(Boolean);
    expect(users.filter((line) => !line.endsWith(' 1000'))).toEqual([]);
  });

  test('S15: a secret of the gateway is in no variable of the sandbox', async () => {
    await using at = await bench({ env: { OPENAI_API_KEY: 'leak', GITHUB_TOKEN: 'leak', MY_PASSWORD: 'leak' } });
    expect(await at.exec('env; cat /proc/1/environ')).not.toContain('leak');
  });

  test('S13: our state in a wide workspace is neither seen nor written', async () => {
    await using wide = await bench({ isWide: true, sandbox: { workspaceAccess: 'rw' } });
    await writeFile(join(wide.test.home, 'secret'), 'SECRET');
    await writeFile(join(wide.workspace, 'plain'), 'plain');
    const command = `cat plain; cat home/secret; echo x > home/new`;
    expect(await wide.exec(command)).toMatch(/^plain.*No such file.*Read-only file system/s);
    expect(textOf(await wide.call('read', { path: 'home/secret' }))).toMatch(/which tools may not touch/);
  });

  test('S13: a link that a command makes leads the file tools nowhere outside', async () => {
    await using at = await bench({ sandbox: { workspaceAccess: 'rw' } });
    await mkdir(join(at.top, 'secret'));
    await writeFile(join(at.top, 'secret', 'key'), 'SECRET');
    await at.exec(`ln -s ${at.top}/secret/key link; ln -s ${at.top}/secret folder; ln -s /etc/hostname host`);
    for (const path of ['link', 'folder/key', 'host', '/workspace/link', '/workspace/../secret/key', '/workspace/../../etc/hostname']) {
      const result = await at.call('read', { path });
      expect([path, result.isError, textOf(result)]).toEqual([path, true, expect.stringMatching(/outside the workspace/)]);
    }
  });

  test('S18: a command cannot take more memory than its limit', async () => {
    await using at = await bench({ sandbox: { limits: { memoryMb: 64 } } });
    expect(await at.exec('dd if=/dev/zero of=/dev/null bs=100M count=1')).toMatch(/memory exhausted|[Cc]annot allocate/);
  });

  test('SPEC 4.6: it dies with the process that began it, even by SIGKILL', { timeout: 30_000 }, async () => {
    await using at = await bench({ sandbox: { workspaceAccess: 'rw' } });
    const script = 'echo up > up; exec sleep 31234.5';
    const { argv, env } = await at.wrap(launchOf(at.workspace, { argv: ['/bin/sh', '-c', script] }));
    const parent = `const c = require('child_process').spawn(${JSON.stringify(argv[0])}, ${JSON.stringify(argv.slice(1))}, { env: ${JSON.stringify(env)}, detached: true }); setInterval(() => {}, 1000)`;
    const gateway = spawn(process.execPath, ['-e', parent], { stdio: 'ignore' });
    await expect.poll(() => sleepers(), { interval: 20, timeout: 10_000 }).toBeGreaterThan(0);
    gateway.kill('SIGKILL');
    await expect.poll(() => sleepers(), { interval: 20, timeout: 10_000 }).toBe(0);
  });

  test('SPEC 4.6: a timeout ends everything inside', async () => {
    await using at = await bench();
    const result = await at.call('exec', { command: '(setsid sleep 31235.5 &) ; trap "" TERM; sleep 31235.5', timeoutSeconds: 0.5 });
    expect(textOf(result)).toContain('stopped after 0.5 s');
    await expect.poll(() => sleepers('31235.5'), { interval: 20, timeout: 10_000 }).toBe(0);
  });

  test('the agent may have further folders to read', async () => {
    await using tools = await programs({ hello: 'echo hello' });
    await using at = await bench({ sandbox: { readable: [tools.path] } });
    expect(await at.exec(`${tools.path}/hello; echo no > ${tools.path}/y`)).toMatch(/^hello\n.*Read-only file system/s);
  });
});

/** Processes on this machine that sleep for so long. */
function sleepers(seconds = '31234.5'): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(`sleep\0${seconds}`);
    } catch {
      return false; // it ended meanwhile
    }
  }).length;
}

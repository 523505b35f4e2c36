import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import toolsExec from '../../../plugins/tools-exec/index.ts';
import toolsFs from '../../../plugins/tools-fs/index.ts';
import { allowAll, textOf, toolbench, type Toolbench } from '../../support/toolbench.ts';

const full = { tools: { exec: { security: 'full' } } };
const boot = (options = {}) => toolbench([toolsFs, toolsExec, allowAll], full, options);

/** Whether a process still runs; one that is dead but not yet reaped does not. */
function runs(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Calls `exec` with a clock that stands still until `shown` lets time pass for what was printed to be shown. */
async function slowly(bench: Toolbench, command: string, signal?: AbortSignal) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const updates: string[] = [];
  const args = { command, timeoutSeconds: 3600 };
  const done = bench.call('exec', args, { onUpdate: (partial) => updates.push(textOf(partial)), ...(signal && { signal }) });
  const shown = (text: string) =>
    expect.poll(async () => (await vi.advanceTimersByTimeAsync(100), updates.at(-1)), { interval: 10, timeout: 10_000 }).toBe(text);
  return { done, updates, shown };
}
afterEach(() => void vi.useRealTimers());

const outcomes: readonly (readonly [what: string, args: object, text: string | RegExp])[] = [
  ['the output and the exit code', { command: 'echo out; echo err >&2; exit 3' }, 'out\nerr\n[exit code 3]'],
  ['a command without output', { command: 'true' }, '[exit code 0]'],
  ['a last line without an end', { command: 'printf x' }, 'x\n[exit code 0]'],
  ['bash, not only sh', { command: 'a=(1 2 3); echo ${#a[@]} <(true) | cut -d" " -f1' }, '3\n[exit code 0]'],
  ['writes to /dev/stderr and /dev/stdout', { command: 'echo a >/dev/stderr; echo b >/dev/stdout' }, 'a\nb\n[exit code 0]'],
  ['no input to wait for', { command: 'cat' }, '[exit code 0]'],
  ['the workspace as folder', { command: 'basename "$PWD"' }, 'workspace\n[exit code 0]'],
  ['a folder in the workspace', { command: 'basename "$PWD"', cwd: "it's -here" }, "it's -here\n[exit code 0]"],
  ['variables', { command: 'echo "$A|$B"', env: { A: "it's $HOME", B: 'x; y' } }, "it's $HOME|x; y\n[exit code 0]"],
  ['a signal as the shell counts it', { command: 'kill -TERM $$' }, '[exit code 143]'],
  ['a command that kills its own group', { command: 'kill -KILL 0' }, '[killed]'],
  ['a syntax error', { command: 'if then' }, /syntax error.*\n.*\n\[exit code 2\]/],
  ['a here-document', { command: 'cat <<X\nhi\nX' }, 'hi\n[exit code 0]'],
];
test.each(outcomes)('SPEC 2.1: exec gives %s', async (_, args, expected) => {
  await using bench = await boot();
  await mkdir(join(bench.workspace, "it's -here"), { recursive: true });
  const shown = textOf(await bench.call('exec', args));
  expect(shown).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected));
});

test('an exit code is no error of the tool, a timeout is', async () => {
  await using bench = await boot();
  expect(await bench.call('exec', { command: 'exit 1' })).toMatchObject({ details: { exitCode: 1 } });
  const { done, shown } = await slowly(bench, 'echo begun; sleep 300');
  await shown('begun\n');
  await vi.advanceTimersToNextTimerAsync();
  const late = await done;
  expect(late).toMatchObject({ isError: true, details: { timedOut: true } });
  expect(textOf(late)).toBe('begun\n[stopped after 3600 s (timeoutSeconds)]');
});

const secrets = [
  'OPENAI_API_KEY',
  'INSTAR_GATEWAY_TOKEN',
  'MY_SECRET',
  'DB_PASSWORD',
  'LC_API_KEY',
  'BASH_ENV',
  'LD_PRELOAD',
  'NODE_OPTIONS',
];

test('the environment of a command holds no secret and nothing that is not listed', async () => {
  const env = {
    PATH: process.env.PATH,
    HOME: '/home/x',
    HTTP_PROXY: 'http://proxy',
    HTTPS_PROXY: 'http://user:leak@proxy',
    ...Object.fromEntries(['LANG', 'LC_ALL', 'TERM', 'TZ'].map((name) => [name, 'C'])),
    ...Object.fromEntries(secrets.map((name) => [name, 'leak'])),
  };
  await using bench = await boot({ env });
  const shown = textOf(await bench.call('exec', { command: 'env' }));
  expect(shown).not.toContain('leak');
  const names = shown.split('\n').map((line) => line.split('=')[0]);
  for (const name of ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TERM', 'TZ', 'HTTP_PROXY']) expect(names).toContain(name);
});

test('long output keeps its head and its tail, with a visible mark between', async () => {
  await using bench = await boot();
  const shown = textOf(await bench.call('exec', { command: 'echo first; seq 1 200000; echo last' }));
  expect(shown.length).toBeLessThan(31_000);
  expect(shown).toMatch(/^first\n1\n2\n[^]*\n\[… \d+ characters left out …\]\n[^]*\n200000\nlast\n\[exit code 0\]$/);
});

test('partial output is shown while the command runs, gathered for a while and not piece by piece', async () => {
  await using bench = await boot();
  const command =
    'for step in 1 2; do echo $step; until [ -e go$step ]; do sleep 0.01; done; done; for i in a b c; do echo $i; sleep 0.01; done';
  const { done, updates, shown } = await slowly(bench, command);
  for (const [step, text] of [
    [1, '1\n'],
    [2, '1\n2\n'],
  ] as const) {
    await shown(text);
    await writeFile(join(bench.workspace, `go${step}`), '');
  }
  expect(textOf(await done)).toMatch(/^1\n2\na\nb\nc\n/);
  expect(updates).toEqual(['1\n', '1\n2\n']); // no time went by after the second
});

/** A command whose grandchild writes its id and then lives for long, even if asked to end. */
const stubborn = 'bash -c "trap \'\' TERM; echo \\$\\$ > pid; exec sleep 300"';

async function begun(workspace: string): Promise<number> {
  const file = join(workspace, 'pid');
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8').trim(), { interval: 10, timeout: 10_000 }).toBeTruthy();
  return Number(await readFile(file, 'utf8'));
}

test('SPEC 4.6: an abort ends the whole process group within 5 s, even what ignores SIGTERM', async () => {
  await using bench = await boot();
  const abort = new AbortController();
  const { done, shown } = await slowly(bench, `echo up; ${stubborn}; true`, abort.signal);
  await shown('up\n');
  const pid = await begun(bench.workspace);
  expect(runs(pid)).toBe(true);
  const ended = done.catch((cause: unknown) => cause); // it may come while time passes
  abort.abort(new Error('stop'));
  await vi.advanceTimersByTimeAsync(4900);
  expect(await ended).toMatchObject({ message: 'stop' });
  await expect.poll(() => runs(pid), { interval: 10 }).toBe(false);
});

test('a polite command is given time to end on an abort', async () => {
  await using bench = await boot();
  const abort = new AbortController();
  const command = "trap 'sleep 0.1; echo bye > bye; exit' TERM; echo $$ > pid; sleep 300 & wait";
  const { done } = await slowly(bench, command, abort.signal);
  await begun(bench.workspace);
  abort.abort(new Error('stop'));
  await expect(done).rejects.toThrow('stop');
  expect(await readFile(join(bench.workspace, 'bye'), 'utf8')).toBe('bye\n');
});

test.each([
  ['silent', '(sleep 300 >/dev/null 2>&1 & echo $! > pid); echo done', 'done\n[exit code 0]'],
  [
    'holding the output',
    '(sleep 300 & echo $! > pid); echo done',
    'done\n[background processes were stopped when the command ended; exit code 0]',
  ],
])('SPEC 4.6: a background process left behind, %s, ends with the command', async (_what, command, expected) => {
  await using bench = await boot();
  const result = await bench.call('exec', { command });
  const pid = Number(await readFile(join(bench.workspace, 'pid'), 'utf8'));
  expect(textOf(result)).toBe(expected);
  await expect.poll(() => runs(pid), { interval: 10 }).toBe(false);
});

test('SPEC 4.6: a command dies with a gateway that is killed outright', { timeout: 30_000 }, async () => {
  await using bench = await boot();
  await mkdir(bench.workspace, { recursive: true });
  const spawnFile = join(import.meta.dirname, '../../../plugins/tools-exec/spawn.ts');
  const gateway = `
    const { startGroup } = await import(${JSON.stringify(spawnFile)});
    const stages = [{ argv: ['/bin/bash', '-c', ${JSON.stringify(stubborn)}] }];
    const { ended } = await startGroup({ stages, cwd: ${JSON.stringify(bench.workspace)}, env: process.env, signal: new AbortController().signal, onOutput() {} });
    await ended;`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', gateway], { stdio: 'inherit' });
  const pid = await begun(bench.workspace);
  expect(runs(pid)).toBe(true);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await expect.poll(() => runs(pid), { interval: 10, timeout: 10_000 }).toBe(false);
});

/** Processes of a session, dead ones that nobody has reaped too. */
function membersOf(session: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[3]) === session;
    } catch {
      return false; // it ended meanwhile
    }
  });
}

test('SPEC 4.6: nothing is left of a command, not even an unreaped process', async () => {
  await using bench = await boot();
  const result = textOf(await bench.call('exec', { command: 'ps -o sid= -p $$; echo hi | cat' }));
  const session = Number(result.split('\n')[0]);
  expect(session).toBeGreaterThan(1);
  await expect.poll(() => membersOf(session), { interval: 10 }).toEqual([]);
});

const refused: readonly (readonly [what: string, args: object, text: RegExp])[] = [
  ['a folder outside', { command: 'pwd', cwd: '..' }, /outside the workspace/],
  ['an absolute folder outside', { command: 'pwd', cwd: '/' }, /outside the workspace/],
  ['a link that leads outside', { command: 'pwd', cwd: 'out' }, /outside the workspace/],
  ['a folder that is not there', { command: 'pwd', cwd: '-' }, /does not exist/],
  ['a file as folder', { command: 'pwd', cwd: 'file' }, /is a file; name a folder/],
  ['a bad variable name', { command: 'true', env: { 'A=1;x': '' } }, /wrong arguments for exec: env/],
  ['a field that the tool does not have', { command: 'true', approved: true }, /unknown key "approved"/],
  ['no command', {}, /"command" is missing/],
];
test.each(refused)('S3, S13: exec refuses %s', async (_, args, expected) => {
  await using bench = await boot();
  await bench.call('exec', { command: 'ln -s / out; touch file' });
  const result = await bench.call('exec', args);
  expect(result.isError).toBe(true);
  expect(textOf(result)).toMatch(expected);
});

test('the offered tool costs less than 1100 bytes of the request', async () => {
  await using bench = await boot();
  const { tools } = await bench.test.kernel.run((run) => run.tools());
  const { name, description, parameters } = tools.find((tool) => tool.name === 'exec')!;
  expect(JSON.stringify({ name, description, parameters }).length).toBeLessThan(1100);
});

test('a workspace that cannot be made is one clear error', async () => {
  await using bench = await boot();
  await writeFile(bench.workspace, 'a file');
  expect(textOf(await bench.call('exec', { command: 'true' }))).toMatch(/exec failed: .*EEXIST/);
});

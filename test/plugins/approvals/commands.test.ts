import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { given, isCoded } from '../../../kernel/index.ts';
import agents from '../../../plugins/agents/index.ts';
import { run as command } from '../../../plugins/approvals/command.ts';
import { Approvals } from '../../../plugins/approvals/contract.ts';
import approvals from '../../../plugins/approvals/index.ts';
import type { CommandHost } from '../../../plugins/cli/contract.ts';
import { type Client, Methods } from '../../../plugins/gateway/contract.ts';
import store from '../../../plugins/store/index.ts';
import toolsExec from '../../../plugins/tools-exec/index.ts';
import toolsFs from '../../../plugins/tools-fs/index.ts';
import { Turn } from '../../../plugins/turns/contract.ts';
import { allowAll, textOf, toolbench, turnIn } from '../../support/toolbench.ts';

afterEach(() => vi.restoreAllMocks());

/** The command at a gateway, and what it printed. */
async function terminal(env: Record<string, string> = {}, sender: Client['sender'] = 'owner', values: Parameters<typeof given>[] = []) {
  const bench = await toolbench([store, agents, approvals, toolsFs, toolsExec, allowAll], {
    agents: { list: [{ id: 'main' }, { id: 'other' }] },
  });
  await mkdir(bench.workspace, { recursive: true });
  const client: Client = { id: 'c', kind: 'terminal', sender, signal: new AbortController().signal, send: () => {} };
  const ask = (name: string, params: Record<string, unknown> = {}) =>
    bench.test.kernel.run(async (run) => (await run.call(Methods, {}))[name]!(params, client, run), {
      values: values.map(([token, value]) => given(token, value)),
    });
  const host = { env, ask, commands: new Map() } as unknown as CommandHost;
  const instar = async (...argv: string[]) => {
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
    vi.spyOn(console, 'error').mockImplementation((line: string) => void lines.push(line));
    const code = await command(argv, host).catch((error: unknown) => (isCoded(error) ? error.code : String(error)));
    return { code, said: lines.join('\n') };
  };
  return { ...bench, ask, instar, desk: await bench.test.kernel.run((run) => run.get(Approvals)) };
}

test('SPEC 4.2: allowlist add, list, test and remove, as a person uses them', async () => {
  await using at = await terminal();
  expect(await at.instar('allowlist', 'test', 'ls -l')).toMatchObject({
    code: 1,
    said: expect.stringMatching(/is asked for[^]*would add \/usr\/bin\/ls -l/),
  });
  expect(await at.instar('allowlist', 'add', 'ls', '-l')).toMatchObject({
    code: 0,
    said: expect.stringContaining('added 1: /usr/bin/ls -l'),
  });
  expect(await at.instar('allowlist', 'add', 'ls', '-l')).toMatchObject({ said: expect.stringContaining('added 1:') });
  expect(await at.instar('allowlist', 'test', 'ls -l')).toMatchObject({
    code: 0,
    said: expect.stringMatching(/runs unasked[^]*approvals allowlist 1/),
  });
  expect(textOf(await at.call('exec', { command: 'ls -l' }))).toMatch(/exit code 0/);
  expect(textOf(await at.call('exec', { command: 'ls -a' }))).toContain('nobody is here');
  expect(textOf(await at.call('exec', { command: 'ls -l' }, { subject: { agent: 'other' } }))).toContain('nobody is here');
  expect(await at.instar('allowlist', 'add', '--agent', '*', '--args', '-[la]', 'ls')).toMatchObject({ code: 0 });
  expect(textOf(await at.call('exec', { command: 'ls -a' }, { subject: { agent: 'other' } }))).toMatch(/exit code 0/);
  const { said } = await at.instar('allowlist', 'list', '--json');
  expect(JSON.parse(said)).toMatchObject({
    entries: [
      { id: 1, agent: 'main', pattern: '/usr/bin/ls', args: ['-l'] },
      { id: 2, agent: '*', argPattern: '-[la]' },
    ],
  });
  for (const id of ['1', '2']) expect(await at.instar('allowlist', 'remove', id)).toEqual({ code: 0, said: `removed ${id}` });
  expect(textOf(await at.call('exec', { command: 'ls -l' }))).toContain('nobody is here');
});

const wrong: readonly (readonly [argv: readonly string[], code: string])[] = [
  [[], 'CLI_USAGE'],
  [['lst'], 'CLI_USAGE'],
  [['allow'], 'CLI_USAGE'],
  [['allow', 'nothing'], 'APPROVAL_UNKNOWN'],
  [['allowlist'], 'CLI_USAGE'],
  [['allowlist', 'ad'], 'CLI_USAGE'],
  [['allowlist', 'add'], 'CLI_USAGE'],
  [['allowlist', 'add', 'sh'], 'EXEC_UNGRANTABLE'],
  [['allowlist', 'add', 'env', 'ls'], 'EXEC_UNGRANTABLE'],
  [['allowlist', 'add', '--args', '(', 'ls'], 'EXEC_ARGUMENTS'],
  [['allowlist', 'add', 'no-such-program'], 'EXEC_ARGUMENTS'],
  [['allowlist', 'add', 'bin/*'], 'EXEC_ARGUMENTS'],
  [['allowlist', 'add', '--agent', 'nobody', 'ls'], 'EXEC_ARGUMENTS'],
  [['allowlist', 'remove', 'x'], 'CLI_USAGE'],
  [['allowlist', 'remove', '99'], 'APPROVAL_UNKNOWN'],
  [['allowlist', 'test'], 'CLI_USAGE'],
];
test('wrong input is told apart and changes nothing', async () => {
  await using at = await terminal();
  for (const [argv, code] of wrong) expect([argv, (await at.instar(...argv)).code]).toEqual([argv, code]);
  expect(await at.desk.allowlist.list()).toEqual([]);
});

test('SPEC 4.4: a person answers from another terminal, by the beginning of the ID', async () => {
  await using at = await terminal();
  at.desk.attend('page');
  const call = at.call('exec', { command: 'echo hi' });
  await expect.poll(() => at.desk.pending().length, { interval: 2 }).toBe(1);
  const { said } = await at.instar('list');
  expect(said).toMatch(/exec\n {4}echo hi\n[^]*folder[^]*asker[^]*reason[^]*not on the allowlist[^]*--always adds[^]*\/usr\/bin\/echo hi/);
  expect(await at.instar('allow', at.desk.pending()[0]!.id.slice(0, 8))).toEqual({ code: 0, said: 'allowed once' });
  expect(textOf(await call)).toBe('hi\n[exit code 0]');
});

test('S11: neither a turn, nor a client that is not the owner’s, nor a command of an agent widens the list or answers', async () => {
  await using turn = await terminal({}, 'owner', [[Turn, turnIn('/tmp')]] as never);
  expect((await turn.instar('allowlist', 'add', 'ls')).code).toBe('APPROVAL_OWN');
  await using stranger = await terminal({}, 'unknown');
  expect((await stranger.instar('allowlist', 'add', 'ls')).code).toBe('APPROVAL_CLIENT');
  expect((await stranger.instar('allowlist', 'remove', '1')).code).toBe('APPROVAL_CLIENT');
  await using inside = await terminal({ INSTAR_EXEC: 'main' });
  for (const argv of [
    ['allowlist', 'add', 'ls'],
    ['allowlist', 'remove', '1'],
    ['allow', 'x'],
    ['deny', 'x'],
  ])
    expect((await inside.instar(...argv)).code).toBe('APPROVAL_OWN');
});

test('S16: what a model wrote reaches the terminal without control characters', async () => {
  await using at = await terminal();
  at.desk.attend('page');
  const call = at.call('exec', { command: 'ls\u001b[2K\u202e' });
  await expect.poll(() => at.desk.pending().length, { interval: 2 }).toBe(1);
  const { said } = await at.instar('list');
  expect(said).toContain('ls\\x1b[2K\\u202e');
  expect(said).not.toMatch(/\u202e|\u001b\[2K/);
  await at.instar('deny', at.desk.pending()[0]!.id);
  expect(textOf(await call)).toContain('said no');
  expect((await at.instar('allowlist', 'test', 'ls\u001b[2K')).said).not.toContain('\u001b[2K');
});

test('S15, U080: neither a denied command nor its reasons are kept in the store', async () => {
  await using at = await terminal();
  const secret = 'sk-live-not-to-be-kept';
  expect(textOf(await at.call('exec', { command: `export API_KEY=${secret}; x` }))).toContain('nobody is here');
  const { readdir, readFile } = await import('node:fs/promises');
  for (const entry of await readdir(at.test.home, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) expect((await readFile(join(entry.parentPath, entry.name))).includes(secret)).toBe(false);
  }
});

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Approver, definePlugin, given } from '../../../kernel/index.ts';
import toolsExec from '../../../plugins/tools-exec/index.ts';
import toolsFs from '../../../plugins/tools-fs/index.ts';
import { Turn } from '../../../plugins/turns/contract.ts';
import { allowAll, textOf, toolbench, type Toolbench, turnIn } from '../../support/toolbench.ts';

const full = { tools: { exec: { security: 'full' } } };
const boot = (config: object = full, more: Parameters<typeof toolbench>[0] = []) =>
  toolbench([toolsFs, toolsExec, allowAll, ...more], config as never);
const said = async (bench: Toolbench, name: string, args: object) => textOf(await bench.call(name, args));
/** A command in the background that says `up`, once it does: one that is ended before it began would be given two seconds to end. */
async function startedIn(bench: Toolbench, command: string) {
  await bench.call('exec', { command: `echo up; ${command}`, background: true });
  await expect.poll(() => said(bench, 'process', { action: 'log', sessionId: 'p1' }), { interval: 10, timeout: 10_000 }).toMatch(/^up\n/);
}
const runs = (pid: number) => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

test('SPEC 4.6: a command goes on in the background: list, poll, log, write, kill, remove', async () => {
  await using bench = await boot();
  const begun = await bench.call('exec', {
    command: 'echo ready; while read -r line; do echo "got $line"; done; echo end',
    background: true,
  });
  expect(begun.details).toEqual({ sessionId: 'p1', status: 'running' });
  expect(await said(bench, 'process', { action: 'list' })).toMatch(/^p1 {2}running {2}0 s {2}echo ready/);
  await said(bench, 'process', { action: 'write', sessionId: 'p1', data: 'one\n' });
  await expect
    .poll(() => said(bench, 'process', { action: 'log', sessionId: 'p1' }), { interval: 10, timeout: 10_000 })
    .toMatch(/^ready\ngot one\n\[lines 0–2 of 2; p1: running\]$/);
  // What exec itself gave already is not given again.
  expect(await said(bench, 'process', { action: 'poll', sessionId: 'p1' })).toMatch(/^(ready\n)?got one\n\[p1: running\]$/);
  expect(await said(bench, 'process', { action: 'poll', sessionId: 'p1' })).toBe('[p1: running]');
  expect(await said(bench, 'process', { action: 'remove', sessionId: 'p1' })).toContain('runs still');
  await said(bench, 'process', { action: 'write', sessionId: 'p1', data: 'two\n', eof: true });
  expect(await said(bench, 'process', { action: 'poll', sessionId: 'p1', timeoutMs: 10_000 })).toBe('got two\nend\n[p1: exit code 0]');
  expect(await said(bench, 'process', { action: 'log', sessionId: 'p1', offset: 1, limit: 1 })).toMatch(/^got one\n/);
  expect(await said(bench, 'process', { action: 'write', sessionId: 'p1', data: 'x' })).toContain('takes no input');
  expect(await said(bench, 'process', { action: 'remove', sessionId: 'p1' })).toBe('p1 is forgotten');
  expect(await said(bench, 'process', { action: 'list' })).toBe('nothing runs in the background');
});

test('the steps of a listed line go on in the background after the turn that began it', async () => {
  await using bench = await boot({ tools: { exec: { ask: 'off', allowlist: ['sleep', 'echo'] } } });
  await bench.call('exec', { command: 'sleep 0.1; echo second && echo third', background: true });
  expect(await said(bench, 'process', { action: 'poll', sessionId: 'p1', timeoutMs: 10_000 })).toBe('second\nthird\n[p1: exit code 0]');
});

test('kill ends the whole group, and an unknown id names those that are there', async () => {
  await using bench = await boot();
  await bench.call('exec', { command: 'sleep 300 & echo $!; wait', background: true });
  await expect.poll(() => said(bench, 'process', { action: 'log', sessionId: 'p1' }), { interval: 10, timeout: 10_000 }).toMatch(/^\d+\n/);
  const pid = Number((await said(bench, 'process', { action: 'log', sessionId: 'p1' })).split('\n')[0]);
  expect(runs(pid)).toBe(true);
  expect(await said(bench, 'process', { action: 'kill', sessionId: 'p1' })).toBe('p1 ended');
  await expect.poll(() => runs(pid), { interval: 10, timeout: 10_000 }).toBe(false);
  expect(await said(bench, 'process', { action: 'poll', sessionId: 'p7' })).toMatch(/no background command "p7"; it has: p1/);
});

test('with yieldMs a quick command answers as usual, and a slow one goes to the background', async () => {
  await using bench = await boot();
  expect(await said(bench, 'exec', { command: 'echo quick', yieldMs: 120_000 })).toBe('quick\n[exit code 0]');
  expect(await said(bench, 'exec', { command: 'echo slow; sleep 300', yieldMs: 10 })).toMatch(/^(slow\n)?\[runs in the background as p2/);
  await expect.poll(() => said(bench, 'process', { action: 'log', sessionId: 'p2' }), { interval: 10, timeout: 10_000 }).toMatch(/^slow\n/);
});

test('S10: another session neither sees nor reaches it', async () => {
  await using bench = await boot();
  await startedIn(bench, 'sleep 300');
  const other = { ...turnIn(bench.workspace), sessionKey: 'agent:main:other' };
  const call = (args: object) =>
    bench.test.kernel.run((run) => run.callTool({ id: 'c', name: 'process', args }), {
      subject: { agent: 'main' },
      values: [given(Turn, other)],
    });
  expect(textOf(await call({ action: 'list' }))).toBe('nothing runs in the background');
  expect(textOf(await call({ action: 'kill', sessionId: 'p1' }))).toContain('no background command "p1"');
});

test('SPEC 4.6: nothing outlives the gateway, and an abort of the run ends what it left in the background', async () => {
  const bench = await boot();
  const abort = new AbortController();
  const pidOf = async (id: string) => {
    await expect.poll(() => said(bench, 'process', { action: 'log', sessionId: id }), { interval: 10, timeout: 10_000 }).toMatch(/^\d+\n/);
    return Number((await said(bench, 'process', { action: 'log', sessionId: id })).split('\n')[0]);
  };
  await bench.call('exec', { command: 'echo $$; exec sleep 300', background: true });
  await bench.call('exec', { command: 'echo $$; exec sleep 300', background: true }, { signal: abort.signal });
  const [stays, goes] = [await pidOf('p1'), await pidOf('p2')];
  abort.abort(new Error('stop'));
  await expect.poll(() => runs(goes), { interval: 10, timeout: 10_000 }).toBe(false);
  expect(runs(stays)).toBe(true);
  await bench[Symbol.asyncDispose]();
  await expect.poll(() => runs(stays), { interval: 10, timeout: 10_000 }).toBe(false);
});

test('a reload of the plugin stops nothing that runs in the background', async () => {
  await using bench = await boot();
  await startedIn(bench, 'sleep 300');
  await bench.test.apply(
    [toolsFs, toolsExec, allowAll].map((plugin) => ({ plugin, codeHash: plugin.name === 'tools-exec' ? '2' : '1', source: 'test' })),
  );
  expect(await said(bench, 'process', { action: 'list' })).toMatch(/^p1 {2}running/);
});

/** A person who says yes to the first question, and no to all others. */
function yesOnce() {
  const asked: string[] = [];
  const once = definePlugin({
    name: 'once',
    description: 'test',
    provides: [Approver],
    setup: (ctx) => ctx.provide(Approver, { ask: async (_request, why) => ({ allowed: asked.push(why) === 1, why: 'no' }) }),
  });
  return { asked, once };
}

test('SPEC 4.2: what is written to a command that a person allowed is asked for as well: a shell would execute it', async () => {
  const { asked, once } = yesOnce();
  await using bench = await boot({}, [once]);
  await bench.call('exec', { command: 'bash -i $X', background: true });
  expect(await said(bench, 'process', { action: 'write', sessionId: 'p1', data: 'rm -rf /\n' })).toContain('process was denied: no');
  expect(asked).toEqual(['bash -i $X', 'write to p1 (bash -i $X): rm -rf /\n']);
});

test('SPEC 4.2: under "full" with ask "always" input is asked for as the command was', async () => {
  const { asked, once } = yesOnce();
  await using bench = await boot({ tools: { exec: { security: 'full', ask: 'always' } } }, [once]);
  await bench.call('exec', { command: 'bash', background: true });
  expect(await said(bench, 'process', { action: 'write', sessionId: 'p1', data: 'touch ran\n' })).toContain('process was denied: no');
  expect(asked).toEqual(['bash', 'write to p1 (bash): touch ran\n']);
});

test.each([
  [{ security: 'allowlist', ask: 'off' }, /denied: .*tools\.exec\.ask is "off"/],
  [{ security: 'allowlist' }, /denied: [^]*no plugin is there to ask/],
  [{ security: 'deny' }, /security is "deny"/],
  [{ security: 'full', host: 'node' }, /denied|not available/],
  [{ security: 'full', ask: 'always' }, /denied: [^]*no plugin is there to ask/],
] as const)('authority is not pinned: a rule tightened to %j binds what runs in the background already', async (exec, refused) => {
  await using bench = await boot();
  await startedIn(bench, 'while read -r line; do echo "got $line"; done');
  const write = () => said(bench, 'process', { action: 'write', sessionId: 'p1', data: 'x\n' });
  expect(await write()).toBe('2 characters written');
  const plugins = [toolsFs, toolsExec, allowAll].map((plugin) => ({ plugin, codeHash: '1', source: 'test' }));
  await bench.test.apply(plugins, { tools: { exec } });
  expect(await write()).toMatch(refused);
  await bench.test.apply(plugins, full);
  expect(await write()).toBe('2 characters written');
});

test('what runs outside of a sandbox takes no input from a session that has one now', async () => {
  await using bench = await boot();
  await startedIn(bench, 'bash');
  const write = { action: 'write', sessionId: 'p1', data: 'touch ran\n' };
  expect(textOf(await bench.call('process', write, { subject: { agent: 'main', sandboxed: true } }))).toMatch(
    /process was denied: it runs outside of where the commands of this session belong now; it can still be killed/,
  );
});

test('a command that asks for a terminal has one', async () => {
  await using bench = await boot();
  expect(await said(bench, 'exec', { command: 'test -t 0 && test -t 1 && echo tty', pty: true })).toMatch(/^tty\r?\n/);
  expect(await said(bench, 'exec', { command: 'test -t 1 || echo none' })).toMatch(/^none\n/);
});

test('U077: with ask "off" nobody waits for an answer, neither for a command nor for its input', async () => {
  await using bench = await boot({ tools: { exec: { ask: 'off', allowlist: ['sleep'] } } });
  expect(await said(bench, 'exec', { command: 'id' })).toMatch(/denied: id: it is not on the allowlist/);
  await bench.call('exec', { command: 'sleep 300', background: true });
  expect(await said(bench, 'process', { action: 'write', sessionId: 'p1', data: 'x' })).toMatch(/process was denied: .*ask is "off"/);
});

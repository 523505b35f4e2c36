import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import approvals from '../../../plugins/approvals/index.ts';
import events from '../../../plugins/events/index.ts';
import { ToolAbsences } from '../../../plugins/policy/contract.ts';
import mcp from '../../../plugins/mcp/index.ts';
import policy from '../../../plugins/policy/index.ts';
import store from '../../../plugins/store/index.ts';
import toolsExec from '../../../plugins/tools-exec/index.ts';
import { allowAll, type Toolbench } from '../../support/toolbench.ts';
import { isUp, mcpBench, offered, ours, states } from './bench.ts';
import { said } from './said.ts';

const absences = (bench: Toolbench) => bench.test.kernel.run((run) => run.call(ToolAbsences, []));
const lines = async (file: string) => (await readFile(file, 'utf8').catch(() => '')).trim().split('\n');
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

afterEach(() => void vi.useRealTimers());

test('SPEC 2.3: the tools of a stdio server are offered and called, and go with it', { timeout: 30_000 }, async () => {
  let pid = 0;
  {
    await using bench = await mcpBench({});
    const log = join(bench.test.home, 'log');
    await bench.test.apply([toolsExec, mcp, allowAll], { mcp: { servers: { my: { ...ours, env: { MCP_TEST_LOG: log, GIVEN: 'yes' } } } } });
    await isUp(bench, 'my');
    pid = Number((await lines(log))[0]?.split(' ')[1]);
    expect(await offered(bench)).toEqual(
      ['echo', 'env', 'grow', 'slow', 'huge', 'fail', 'crash', 'with_dots_and_blanks_6f06b6'].map((name) =>
        expect.stringMatching(`^mcp__my__${name.slice(0, 20)}`),
      ),
    );
    expect(said(await bench.call('mcp__my__echo', { text: 'hello' }))).toBe('hello');
    const failed = await bench.call('mcp__my__fail', {});
    expect([failed.isError, said(failed)]).toEqual([true, 'it went wrong']);
    const wrong = await bench.call('mcp__my__echo', { txt: 1 });
    expect([wrong.isError, said(wrong)]).toEqual([true, expect.stringContaining('wrong arguments for mcp__my__echo: "text" is missing')]);
    expect(said(await bench.call('mcp__my__huge', {}))).toMatch(/^x{50000}\n\[cut: 70000 more characters; ask for less at once\]$/);
    expect(await absences(bench)).toEqual([
      { tool: expect.stringMatching(/^mcp__my__bad_schema_/), why: expect.stringContaining('no JSON Schema that can be checked') },
    ]);

    const env = JSON.parse(said(await bench.call('mcp__my__env', {}))) as Record<string, string>;
    expect(env).toMatchObject({ GIVEN: 'yes', PATH: expect.any(String) });
    expect(Object.keys(env).filter((key) => /KEY|TOKEN|SECRET|INSTAR_NO/.test(key))).toEqual([]);
    expect(await readFile(join(bench.test.home, 'logs/mcp-my.log'), 'utf8')).toContain('words on stderr');
    expect(isAlive(pid)).toBe(true);
  }
  expect(isAlive(pid)).toBe(false);
});

test('SPEC 2.3: a list that the server changes is live with the next turn', { timeout: 30_000 }, async () => {
  await using bench = await mcpBench({ my: ours });
  await isUp(bench, 'my');
  expect(await offered(bench)).not.toContain('mcp__my__grown');
  await bench.call('mcp__my__grow', {});
  await expect.poll(() => offered(bench)).toContain('mcp__my__grown');
  expect(said(await bench.call('mcp__my__grown', {}))).toBe('grown');
});

test('a call that takes too long ends with what is known, and the connection goes on', { timeout: 30_000 }, async () => {
  await using bench = await mcpBench({ my: { ...ours, timeoutSeconds: 1 } });
  await isUp(bench, 'my');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let isOver = false;
  const call = bench.call('mcp__my__slow', {}).finally(() => (isOver = true));
  await expect.poll(async () => (await vi.advanceTimersByTimeAsync(1000), isOver), { interval: 10, timeout: 10_000 }).toBe(true);
  const late = await call;
  expect([late.isError, said(late)]).toEqual([true, expect.stringMatching(/timed out; whether it took effect is not known$/i)]);
  expect(said(await bench.call('mcp__my__echo', { text: 'still there' }))).toBe('still there');
});

test('a call shows its progress, and is cancelled at the server when it is aborted', { timeout: 30_000 }, async () => {
  await using bench = await mcpBench({});
  const log = join(bench.test.home, 'log');
  await bench.test.apply([toolsExec, mcp, allowAll], { mcp: { servers: { my: { ...ours, env: { MCP_TEST_LOG: log } } } } });
  await isUp(bench, 'my');
  const abort = new AbortController();
  const seen: string[] = [];
  const call = bench.call('mcp__my__slow', {}, { signal: abort.signal, onUpdate: (partial) => seen.push(said(partial)) });
  await expect.poll(() => seen).toEqual(['half way (1 of 2)']);
  abort.abort(new Error('stopped'));
  await expect(call).rejects.toThrow('stopped');
  await expect.poll(() => lines(log)).toContain('cancelled');
  expect(said(await bench.call('mcp__my__echo', { text: 'still there' }))).toBe('still there');
});

test('SPEC 14.4: a reload keeps the program, a change of what starts it makes it anew', { timeout: 30_000 }, async () => {
  await using bench = await mcpBench({});
  const log = join(bench.test.home, 'log');
  const config = (allow: readonly string[], more: object = {}) => ({
    mcp: { servers: { my: { ...ours, allow, env: { MCP_TEST_LOG: log, ...more } } } },
  });
  const plugins = [toolsExec, mcp, allowAll];
  await bench.test.apply(plugins, config(['*']));
  await isUp(bench, 'my');
  await bench.test.reload('mcp');
  await bench.test.apply(plugins, config([]));
  expect(await offered(bench)).toContain('mcp__my__echo');
  expect(await lines(log)).toHaveLength(1);
  await bench.test.apply(plugins, config([], { OTHER: '1' }));
  await isUp(bench, 'my');
  const [first, second] = (await lines(log)).map((line) => Number(line.split(' ')[1]));
  expect(isAlive(second ?? 0)).toBe(true);
  await expect.poll(() => isAlive(first ?? 0), { timeout: 10_000 }).toBe(false);
});

test('a server that crashes fails the call with what is known, is told absent, and comes back', { timeout: 30_000 }, async () => {
  await using bench = await mcpBench({ my: ours });
  await isUp(bench, 'my');
  const result = await bench.call('mcp__my__crash', {});
  expect([result.isError, said(result)]).toEqual([true, expect.stringContaining('whether it took effect is not known')]);
  await expect.poll(() => states(bench)).toMatchObject([{ state: 'down', tools: [] }]);
  expect(await offered(bench)).toEqual([]);
  expect(await absences(bench)).toEqual([
    { tool: 'mcp__my__*', why: expect.stringMatching(/^MCP server "my" is down: .*; it is tried again$/) },
  ]);
  await isUp(bench, 'my');
  expect(said(await bench.call('mcp__my__echo', { text: 'back' }))).toBe('back');
});

const faulty: Readonly<Record<string, readonly [block: object, why: RegExp]>> = {
  'not-there': [{ command: 'no-such-program' }, /"no-such-program" was not found: it is in no folder of PATH/],
  ends: [
    { command: process.execPath, args: ['-e', 'process.exit(7)'] },
    /its program ended with exit code 7 without a word of MCP; what it said is in .*mcp-ends\.log/,
  ],
  silent: [{ command: '/bin/sleep', args: ['1000'], connectTimeoutSeconds: 1 }, /it did not greet within 1 s|timed out/],
  nobody: [{ url: 'http://127.0.0.1:9/mcp' }, /is down: .*(?:fetch failed|ECONNREFUSED|bad port)/],
  neither: [{}, /"neither" has neither a command nor a url; give one/],
  two__words: [{ command: 'x' }, /"two__words" has a name of other than letters, digits and single - or _/],
  both: [{ command: 'x', url: 'http://x' }, /"both" has both a command and a url/],
};

test('SPEC 2.1: a server that does not work is a reason in the registry of absences, and the others go on', {
  timeout: 30_000,
}, async () => {
  const blocks = Object.entries(faulty).map(([name, [block]]) => [name, block]);
  await using bench = await mcpBench({ good: ours, ...Object.fromEntries(blocks) });
  await isUp(bench, 'good');
  expect(await offered(bench)).toContain('mcp__good__echo');
  for (const [name, [, why]] of Object.entries(faulty)) {
    await expect
      .poll(async () => (await absences(bench)).find(({ tool }) => tool === `mcp__${name}__*`)?.why, { timeout: 10_000 })
      .toMatch(why);
  }
});

test('without the plugin that starts programs the server is absent, and says so', async () => {
  await using bench = await mcpBench({ my: ours }, [mcp, allowAll]);
  await expect.poll(async () => (await absences(bench))[0]?.why).toContain('plugin "tools-exec", which starts programs, is not live');
});

test('SPEC 2.3, 4.3: tools of a server pass the same policy, and are asked for unless the server’s block allows them (U058)', {
  timeout: 30_000,
}, async () => {
  const plugins = [store, events, toolsExec, policy, approvals, mcp];
  await using bench = await mcpBench({}, plugins);
  await bench.test.apply(plugins, { tools: { deny: ['mcp__my__env'] }, mcp: { servers: { my: { ...ours, allow: ['ec*', 'env'] } } } });
  await isUp(bench, 'my');
  const owner = { subject: { agent: 'main', sender: 'owner', session: 'main' } } as const;
  expect(said(await bench.call('mcp__my__echo', { text: 'unasked' }, owner))).toBe('unasked');
  expect(said(await bench.call('mcp__my__env', {}, owner))).toMatch(/mcp__my__env is not available here: .*tools\.deny/);
  const asked = await bench.call('mcp__my__huge', {}, owner);
  expect([asked.isError, said(asked)]).toEqual([true, expect.stringContaining('nobody is here to do it')]);
});

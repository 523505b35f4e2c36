import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DecideTool, definePlugin, defineTool, given, isCoded, RegisterTools, text, type Verdict } from '../../../kernel/index.ts';
import type { Clock } from '../../../plugins/approvals/clock.ts';
import { Approvals, classes, type Question, type Requested } from '../../../plugins/approvals/contract.ts';
import approvals, { approvalsOn } from '../../../plugins/approvals/index.ts';
import { Events, type LiveEvent } from '../../../plugins/events/contract.ts';
import events from '../../../plugins/events/index.ts';
import { type Client, Methods } from '../../../plugins/gateway/contract.ts';
import store from '../../../plugins/store/index.ts';
import toolsExec from '../../../plugins/tools-exec/index.ts';
import toolsFs from '../../../plugins/tools-fs/index.ts';
import { Turn } from '../../../plugins/turns/contract.ts';
import { allowAll, textOf, toolbench, type Toolbench, turnIn } from '../../support/toolbench.ts';

/** Time that stands still until it is told to go on. */
function fakeClock() {
  let now = 1_000_000;
  const due = new Set<{ readonly at: number; readonly work: () => void }>();
  const clock: Clock = {
    now: () => now,
    after(ms, work) {
      const entry = { at: now + ms, work };
      due.add(entry);
      return () => due.delete(entry);
    },
  };
  const pass = (ms: number) => {
    now += ms;
    for (const entry of [...due].filter(({ at }) => at <= now)) {
      due.delete(entry);
      entry.work();
    }
  };
  return { clock, pass, waiting: () => due.size };
}

/** A tool that is always asked for, with the text it was given. */
const danger = definePlugin({
  name: 'danger',
  description: 'test',
  setup(ctx) {
    const parameters = { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] } as const;
    const tool = defineTool({ name: 'danger', description: '', parameters, execute: () => text('done') });
    ctx.tap(RegisterTools, (tools) => [...tools, tool]);
    ctx.tap(DecideTool, ({ args }): Verdict => ({ kind: 'ask', why: String(args.what) }));
  },
});

async function boot(clock = fakeClock()) {
  const plugins = [store, events, approvalsOn(clock.clock), danger];
  const bench = await toolbench(plugins);
  const seen: LiveEvent[] = [];
  await bench.test.kernel.run((run) => run.get(Events).watch({}, (event) => void seen.push(event)));
  return { ...bench, clock, plugins, seen, desk: await bench.test.kernel.run((run) => run.get(Approvals)) };
}

/** The question a call has led to. */
async function asked(desk: Approvals): Promise<Question> {
  await expect.poll(() => desk.pending().length, { interval: 2 }).toBe(1);
  return desk.pending()[0]!;
}

test('SPEC 4.4: with nobody there the answer is an immediate no that says how to allow it', async () => {
  await using at = await boot();
  const result = await at.call('danger', { what: 'rm -rf x' });
  expect(result.isError).toBe(true);
  expect(textOf(result)).toMatch(/nobody is here.*no terminal or page is attached; open one to be asked$/);
  expect(at.clock.waiting()).toBe(0);
  expect(at.seen).toEqual([]);
});

test.each([
  ['once', 'done'],
  ['always', 'done'],
  ['deny', 'danger was denied: page said no'],
] as const)('SPEC 4.4: the answer "%s" decides the call', async (answer, expected) => {
  await using at = await boot();
  at.desk.attend('page');
  const call = at.call('danger', { what: 'x' }, { subject: { agent: 'main', sender: 'owner', channel: 'web' } });
  const question = await asked(at.desk);
  expect(question).toEqual({
    id: question.id,
    tool: 'danger',
    what: 'x',
    why: 'asked for by sender "owner" on web',
    agent: 'main',
    sessionKey: 'agent:main:main',
    cwd: at.workspace,
    reasons: [],
    always: ['exactly this call, for this agent'],
    askedAt: 1_000_000,
    expiresAt: 1_030_000,
  });
  expect(at.desk.answer(question.id, answer, 'page')).toBe(true);
  expect(textOf(await call)).toBe(expected);
  expect(at.desk.answer(question.id, 'once', 'page')).toBe(false);
  await expect
    .poll(() => at.seen, { interval: 2 })
    .toMatchObject([
      { type: 'approval_requested', sessionKey: 'agent:main:main', runId: 'r', data: { question } },
      { type: 'approval_resolved', sessionKey: 'agent:main:main', data: { id: question.id, answer, by: 'page' } },
    ]);
});

test('SPEC 4.4: no answer is a no after exactly 30 s, and the question is gone', async () => {
  await using at = await boot();
  at.desk.attend('terminal');
  const call = at.call('danger', { what: 'x' });
  await asked(at.desk);
  at.clock.pass(29_999);
  expect(at.desk.pending()).toHaveLength(1);
  at.clock.pass(1);
  expect(textOf(await call)).toBe('danger was denied: nobody answered within 30 s, which is a no');
  expect(at.desk.pending()).toEqual([]);
});

test('a question ends with its run, at once', async () => {
  await using at = await boot();
  at.desk.attend('page');
  const abort = new AbortController();
  const call = at.call('danger', { what: 'x' }, { signal: abort.signal });
  const { id } = await asked(at.desk);
  abort.abort(new Error('stop'));
  await expect(call).rejects.toThrow('stop');
  expect(at.desk.answer(id, 'once', 'page')).toBe(false);
  expect(at.clock.waiting()).toBe(0);
});

test('questions and attendance outlive a reload of the plugin', async () => {
  await using at = await boot();
  at.desk.attend('page');
  const call = at.call('danger', { what: 'x' });
  const { id } = await asked(at.desk);
  await at.test.apply(at.plugins.map((plugin) => ({ plugin, codeHash: plugin.name === 'approvals' ? '2' : '1', source: 'test' })));
  const reloaded = await at.test.kernel.run((run) => run.get(Approvals));
  expect(reloaded.pending()).toHaveLength(1);
  expect(reloaded.answer(id, 'once', 'page')).toBe(true);
  expect(textOf(await call)).toBe('done');
});

const texts: readonly (readonly [raw: string, shown: string])[] = [
  ['rm -rf "$HOME"/ä…日本', 'rm -rf "$HOME"/ä…日本'],
  ['ls\u001b[2K\u001b[1Gecho safe', 'ls\\x1b[2K\\x1b[1Gecho safe'],
  ['a\u009bb\u0007c\u007f', 'a\\x9bb\\x07c\\x7f'],
  ['ls\nrm x\r\n\ty', 'ls⏎rm x\\r⏎\\ty'],
  ['a⏎b', 'a\\u23ceb'],
  ['ls \u202egpj.exe\u2066', 'ls \\u202egpj.exe\\u2066'],
  ['l\u200bs\u00ad\ufeff', 'l\\u200bs\\xad\\ufeff'],
  ['a\u2028b\u00a0c\u3000d', 'a\\u2028b\\xa0c\\u3000d'],
  ['tag\u{e0041}\ud800', 'tag\\u{e0041}\\ud800'],
];
test.each(texts)('S16: %j is shown as %j', async (raw, shown) => {
  await using at = await boot();
  at.desk.attend('page');
  const call = at.call('danger', { what: raw });
  const { id, what } = await asked(at.desk);
  expect(what).toBe(shown);
  at.desk.answer(id, 'deny', 'page');
  await call;
});

test('a text that is too long to judge is refused, not cut', async () => {
  await using at = await boot();
  at.desk.attend('page');
  expect(textOf(await at.call('danger', { what: 'x'.repeat(20_001) }))).toContain('more than a person can judge');
});

/** A client of the gateway, and the plugin's methods as the gateway would call them. */
async function methodsOf(at: Toolbench, sender: Client['sender'] = 'owner', values: Parameters<typeof given>[] = []) {
  const socket = new AbortController();
  const client: Client = { id: 'c', kind: 'page', sender, signal: socket.signal, send: () => {} };
  const call = (name: string, params: Record<string, unknown> = {}) =>
    at.test.kernel.run(async (run) => (await run.call(Methods, {}))[name]!(params, client, run), {
      values: values.map(([token, value]) => given(token, value)),
    });
  return { call, signal: socket.signal, close: () => socket.abort() };
}

test('SPEC 4.4: a page attends while its socket is open, sees the question and answers it', async () => {
  await using at = await boot();
  const page = await methodsOf(at);
  await page.call('approvals.attend', { name: 'page' });
  const call = at.call('danger', { what: 'x' });
  const question = await asked(at.desk);
  expect(await page.call('approvals.list')).toEqual({ questions: [question] });
  expect(await page.call('approvals.answer', { id: question.id, answer: 'once' })).toEqual({ answered: true });
  expect(await page.call('approvals.answer', { id: question.id, answer: 'once' })).toEqual({ answered: false });
  expect(textOf(await call)).toBe('done');
  page.close();
  expect(textOf(await at.call('danger', { what: 'x' }))).toContain('nobody is here');
});

test('a client that attends again has the one seat still, over a reload too, and one end of it empties it', async () => {
  await using at = await boot();
  const page = await methodsOf(at);
  let heard = 0;
  const listen = page.signal.addEventListener.bind(page.signal);
  page.signal.addEventListener = (...args: Parameters<typeof listen>) => {
    heard += 1;
    listen(...args);
  };
  for (let i = 0; i < 3; i += 1) await page.call('approvals.attend', { name: 'page' });
  await at.test.apply(at.plugins.map((plugin) => ({ plugin, codeHash: plugin.name === 'approvals' ? '2' : '1', source: 'test' })));
  await page.call('approvals.attend', { name: 'page' });
  expect(heard).toBe(1);
  page.close();
  expect(textOf(await at.call('danger', { what: 'x' }))).toContain('nobody is here');
});

const refusals: readonly (readonly [what: string, sender: Client['sender'], params: object, code: string])[] = [
  ['who is known and no owner, whatever his client calls itself', 'known', { id: 'i', answer: 'once' }, 'APPROVAL_CLIENT'],
  ['what belongs to the gateway itself', 'internal', { id: 'i', answer: 'once' }, 'APPROVAL_CLIENT'],
  ['an answer that is none', 'owner', { id: 'i', answer: 'yes' }, 'APPROVAL_ARGUMENTS'],
  ['no id', 'owner', { answer: 'once' }, 'APPROVAL_ARGUMENTS'],
];
test.each(refusals)('S3: approvals.answer refuses %s', async (_what, sender, params, code) => {
  await using at = await boot();
  const client = await methodsOf(at, sender);
  await expect(client.call('approvals.answer', { ...params })).rejects.toMatchObject({ code });
});

test('S3: neither a client of nobody known nor a turn attends or answers for itself', async () => {
  await using at = await boot();
  const stranger = await methodsOf(at, 'unknown');
  const turn = await methodsOf(at, 'owner', [[Turn, turnIn(at.workspace)]] as never);
  const refused = async (work: Promise<unknown>) =>
    work.then(
      () => 'allowed',
      (error: unknown) => isCoded(error) && error.code,
    );
  expect(await refused(stranger.call('approvals.attend'))).toBe('APPROVAL_CLIENT');
  expect(await refused(turn.call('approvals.attend'))).toBe('APPROVAL_OWN');
  expect(await refused(turn.call('approvals.answer', { id: 'i', answer: 'once' }))).toBe('APPROVAL_OWN');
  expect(textOf(await at.call('danger', { what: 'x' }))).toContain('nobody is here');
});

test('S1: "always" lets exactly this command of this agent run unasked from then on, after a restart too', async () => {
  const plugins = [store, approvals, toolsFs, toolsExec, allowAll];
  await using at = await toolbench(plugins);
  await mkdir(join(at.workspace, 'sub'), { recursive: true });
  const desk = await at.test.kernel.run((run) => run.get(Approvals));
  const seat = desk.attend('page');
  const first = at.call('exec', { command: 'echo hi' });
  desk.answer((await asked(desk)).id, 'always', 'page');
  expect(textOf(await first)).toBe('hi\n[exit code 0]');
  seat.leave();
  await using again = await toolbench(plugins, {}, { home: at.test.home });
  expect(textOf(await again.call('exec', { command: 'echo hi' }))).toBe('hi\n[exit code 0]');
  for (const args of [{ command: 'echo hi; id' }, { command: 'echo hi', env: { PATH: '/evil' } }, { command: 'echo hi', cwd: 'sub' }]) {
    expect([args, textOf(await again.call('exec', args))]).toEqual([args, expect.stringContaining('nobody is here')]);
  }
  expect(textOf(await again.call('exec', { command: 'echo hi' }, { subject: { agent: 'other' } }))).toContain('nobody is here');
});

test('with ask "always" a remembered answer does not count', async () => {
  const plugins = [store, approvals, toolsExec, allowAll];
  await using at = await toolbench(plugins, { tools: { exec: { ask: 'always' } } });
  const desk = await at.test.kernel.run((run) => run.get(Approvals));
  const seat = desk.attend('page');
  const first = at.call('exec', { command: 'true' });
  desk.answer((await asked(desk)).id, 'always', 'page');
  await first;
  seat.leave();
  expect(textOf(await at.call('exec', { command: 'true' }))).toContain('nobody is here');
});

test('S1: an "always" for what only a shell can do, or for an interpreter, allows it once and never again', async () => {
  await using at = await toolbench([store, approvals, toolsFs, toolsExec, allowAll]);
  const desk = await at.test.kernel.run((run) => run.get(Approvals));
  const seat = desk.attend('page');
  for (const command of ['echo $((1+1))', "awk 'BEGIN{print 2}'"]) {
    const call = at.call('exec', { command });
    const question = await asked(desk);
    expect(question).toMatchObject({ what: command, always: [] });
    expect(question.reasons.join()).toMatch(/needs a shell for arithmetic|is an interpreter, which no list can allow/);
    desk.answer(question.id, 'always', 'page');
    expect(textOf(await call)).toBe('2\n[exit code 0]');
  }
  expect(await desk.allowlist.list()).toEqual([]);
  seat.leave();
  expect(textOf(await at.call('exec', { command: 'echo $((1+1))' }))).toContain('nobody is here');
});

test('SPEC 4.2: the question says what "always" would add, and it is the narrow entry that is kept', async () => {
  await using at = await toolbench([store, approvals, toolsFs, toolsExec, allowAll]);
  await mkdir(at.workspace, { recursive: true });
  await writeFile(join(at.workspace, 'tool'), '#!/bin/sh\necho mine', { mode: 0o755 });
  const desk = await at.test.kernel.run((run) => run.get(Approvals));
  desk.attend('page');
  const call = at.call('exec', { command: './tool a && echo "x y" | wc -l' });
  const question = await asked(desk);
  expect(question.always).toEqual([`${at.workspace}/tool a in ${at.workspace}`, `/usr/bin/echo "x y" in ${at.workspace}`]);
  desk.answer(question.id, 'always', 'page');
  await call;
  expect(await desk.allowlist.list('main')).toMatchObject([
    { agent: 'main', pattern: `${at.workspace}/tool`, args: ['a'], sha256: expect.stringMatching(/^[0-9a-f]{64}$/), by: 'page' },
    { agent: 'main', pattern: '/usr/bin/echo', args: ['x y'] },
  ]);
  const again = at.call('exec', { command: './tool a' });
  expect(textOf(await again)).toBe('mine\n[exit code 0]');
  await writeFile(join(at.workspace, 'tool'), '#!/bin/sh\necho evil');
  const changed = at.call('exec', { command: './tool a' });
  const asks = await asked(desk);
  expect(asks.reasons.join()).toContain('not what it was when it was allowed');
  desk.answer(asks.id, 'deny', 'page');
  await changed;
});

test('S2: "always" keeps the content that was judged and shown, not what lies there when the answer comes', async () => {
  await using at = await toolbench([store, approvals, toolsFs, toolsExec, allowAll]);
  await mkdir(at.workspace, { recursive: true });
  const tool = join(at.workspace, 'tool');
  await writeFile(tool, '#!/bin/sh\necho mine', { mode: 0o755 });
  const desk = await at.test.kernel.run((run) => run.get(Approvals));
  const seat = desk.attend('page');
  const call = at.call('exec', { command: './tool' });
  const question = await asked(desk);
  await writeFile(tool, '#!/bin/sh\necho evil');
  desk.answer(question.id, 'always', 'page');
  expect(textOf(await call)).toMatch(/tool was changed after the command was judged; nothing was run/);
  seat.leave();
  expect(textOf(await at.call('exec', { command: './tool' }))).toContain('not what it was when it was allowed');
  await writeFile(tool, '#!/bin/sh\necho mine');
  expect(textOf(await at.call('exec', { command: './tool' }))).toBe('mine\n[exit code 0]');
});

test('SPEC 4.4: a chat channel shows the question and takes it back; only an owner answers there', async () => {
  await using at = await boot();
  const seen: unknown[] = [];
  at.desk.attend('fake-chat', {
    sees: (question) => question.sessionKey.startsWith('agent:main:'),
    show: (question) => void seen.push(question.what),
    settled: (_question, answer, by) => void seen.push([answer, by]),
  });
  const call = at.call('danger', { what: 'rm x' }, { subject: { agent: 'main', sender: 'known', channel: 'fake' } });
  const { id } = await asked(at.desk);
  for (const sender of ['known', 'unknown', 'internal', undefined] as const) {
    expect(() => at.desk.answerFrom(id, 'once', { name: 'mallory', sender })).toThrow(/no owner/);
  }
  expect(at.desk.answerFrom(id, 'once', { name: 'ada', sender: 'owner' })).toBe(true);
  expect(textOf(await call)).toBe('done');
  expect(seen).toEqual(['rm x', ['once', 'ada']]);
});

test('SPEC 4.4: where only a seat is there that cannot see the question, or fails, nobody waits or the clock decides', async () => {
  await using at = await boot();
  const other = at.desk.attend('other-chat', { sees: () => false });
  expect(textOf(await at.call('danger', { what: 'x' }))).toContain('nobody is here');
  other.leave();
  at.desk.attend('broken', {
    show: () => {
      throw new Error('no network');
    },
  });
  const call = at.call('danger', { what: 'x' });
  await asked(at.desk);
  at.clock.pass(30_000);
  expect(textOf(await call)).toContain('nobody answered within 30 s');
});

const classed: readonly (readonly [request: Requested, kind: string, passes: boolean])[] = [
  [{ tool: 'read', path: 'in.txt' }, 'readonly_scoped', true],
  [{ tool: 'read', path: './sub/../in.txt' }, 'readonly_scoped', true],
  [{ tool: 'read', path: '../out.txt' }, 'other', false],
  [{ tool: 'read', path: 'link' }, 'other', false],
  [{ tool: 'read', path: 'nothing' }, 'other', false],
  [{ tool: 'read', path: '/etc/passwd' }, 'other', false],
  [{ tool: 'read' }, 'other', false],
  [{ tool: 'read', path: 'in.txt', changesState: true }, 'mutating', false],
  [{ tool: 'search' }, 'readonly_search', true],
  [{ tool: 'web_search' }, 'readonly_search', true],
  [{ tool: 'memory_search' }, 'readonly_search', true],
  [{ tool: 'web_search', changesState: true }, 'mutating', false],
  ...['exec', 'spawn', 'shell', 'bash', 'process', 'nodes', 'code_execution'].map((tool) => [{ tool }, 'exec_capable', false] as const),
  ...['gateway', 'cron', 'sessions_spawn', 'sessions_send', 'session_status'].map((tool) => [{ tool }, 'control_plane', false] as const),
  [{ tool: 'whatsapp_login' }, 'interactive', false],
  [{ tool: 'write', path: 'in.txt' }, 'mutating', false],
  [{ tool: 'web_fetch' }, 'other', false],
  [{ tool: 'READ', path: 'in.txt' }, 'unknown', false],
  [{ tool: 'read ', path: 'in.txt' }, 'unknown', false],
  [{ tool: 'toString' }, 'unknown', false],
  [{ tool: undefined }, 'unknown', false],
];
test('SPEC 4.3: the class of each permission request, and which pass by themselves', async () => {
  await using at = await boot();
  await mkdir(join(at.workspace, 'sub'), { recursive: true });
  for (const name of ['workspace/in.txt', 'out.txt']) await writeFile(join(at.test.home, name), '');
  await symlink('../out.txt', join(at.workspace, 'link'));
  for (const [request, kind, passes] of classed) {
    expect([request, await at.desk.classify({ ...request, cwd: at.workspace })]).toMatchObject([request, { class: kind, passes }]);
  }
  expect(classes.filter((row) => row.passes).map((row) => row.class)).toEqual(['readonly_scoped', 'readonly_search']);
});

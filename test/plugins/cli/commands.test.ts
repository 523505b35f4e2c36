import { once } from 'node:events';
import { readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { host } from '../../../kernel/host/entry.ts';
import { readHolder } from '../../../kernel/host/lock.ts';
import { connect } from '../../../plugins/cli/client.ts';
import type { ProcessHost } from '../../../plugins/cli/contract.ts';
import { type Folder, folder } from '../../host/folder.ts';
import { gateway, instar } from '../../host/instar.ts';
import { long } from '../../support/series.ts';

host satisfies ProcessHost;

const json = (text: string) => JSON.parse(text) as Record<string, unknown>;
const agent = (home: Folder, ...args: string[]) => instar(home.path, ['agent', ...args]).ended;

test('SPEC 15.2: --version and --help answer without a state folder', async () => {
  await using home = await folder();
  const gone = home.at('never-made');
  const manifest = readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8');
  const version = await instar(home.path, ['--version'], { INSTAR_HOME: gone }).ended;
  expect(version).toEqual({ code: 0, out: `${String(json(manifest).version)}\n`, err: '' });
  const help = await instar(home.path, ['--help'], { INSTAR_HOME: gone }).ended;
  for (const command of ['start', 'chat', 'agent', 'status', 'logs', 'doctor', 'stop']) {
    expect(help.out).toMatch(new RegExp(`^ {2}${command} +\\w`, 'm'));
  }
  const { out } = await instar(home.path, ['chat', '--help'], { INSTAR_HOME: gone }).ended;
  expect(out).toContain('usage: instar chat ["text"]');
});

test.each([
  ['an unknown command', ['chta'], 'instar: there is no command "chta"; did you mean "chat"?\n'],
  ['an unknown option', ['agent', '--mesage', 'x'], /^instar: Unknown option '--mesage'; usage: instar agent --message TEXT .*\n$/],
  ['a config without a name', ['status', '--config'], 'instar: --config takes the name of a file\n'],
  ['a chat without a text', ['chat', ' '], /^instar: there is no text to send; usage: instar chat .*\n$/],
  ['a missing message', ['agent'], /^instar: --message is missing; usage: instar agent .*\n$/],
])('%s exits with 64 and one line', async (_, args, line) => {
  await using home = await folder();
  const { code, err } = await instar(home.path, args).ended;
  expect(code).toBe(64);
  expect(err).toMatch(line);
});

test('SPEC 15.2: chat streams one turn with its tool calls, in a gateway of its own where none runs', async () => {
  await using home = await folder({ 'workspace/README.md': '# Hello\n\nThis is a test.' });
  const { code, out, err } = await instar(home.path, ['chat', 'read README.md and say what this is']).ended;
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/^> read README\.md$/m);
  expect(out).toMatch(/This is a test/);
});

test('agent prints the answer alone, or as JSON with its facts', async () => {
  await using home = await folder();
  const { code, out, err } = await agent(home, '--message', 'what time is it', '--session', 'one', '--json');
  expect([code, err]).toEqual([0, '']);
  expect(json(out)).toMatchObject({
    text: expect.any(String),
    sessionKey: 'agent:main:one',
    agentId: 'main',
    stopReason: 'stop',
    model: 'demo/demo',
  });
  expect(json(out)).toMatchObject({ runId: expect.any(String), itemId: expect.any(String), usage: { totalTokens: expect.any(Number) } });
});

test('SPEC 15.2: three agents at once work without a gateway, in one session and in several', async () => {
  await using home = await folder();
  const sessions = ['a', 'a', 'b'];
  const ended = await Promise.all(sessions.map((key, i) => agent(home, '--message', `banana ${i}`, '--session', key, '--json')));
  expect(ended.map(({ code, err }) => [code, err])).toEqual(sessions.map(() => [0, '']));
  for (const [i, { out }] of ended.entries())
    expect(json(out)).toMatchObject({ text: expect.stringContaining(`banana ${i}`), sessionKey: `agent:main:${sessions[i]}` });
});

describe('SPEC 15.2: with a running gateway', () => {
  let home: Folder;
  let running: Awaited<ReturnType<typeof gateway>>;
  beforeAll(async () => {
    home = await folder();
    running = await gateway(home.path);
  });
  afterAll(async () => {
    await running[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
  });

  test('three agents at once are answered', async () => {
    const ended = await Promise.all([1, 2, 3].map((i) => agent(home, '--message', `banana ${i}`)));
    expect(ended.map(({ code, out }, i) => [code, out.includes(`banana ${i + 1}`)])).toEqual(ended.map(() => [0, true]));
  });

  test('status tells what it is made of, for people and for programs', async () => {
    const status = await instar(home.path, ['status', '--json']).ended;
    const facts = { running: true, pid: running.child.pid, mode: 'gateway', inspection: { generation: 1 }, active: [] };
    expect(json(status.out)).toMatchObject(facts);
    expect((await instar(home.path, ['status']).ended).out).toMatch(/^ {2}model +demo\/demo/m);
  });

  test('doctor finds it, and warns that no real model is in use', async () => {
    const doctor = await instar(home.path, ['doctor']).ended;
    expect(doctor.code).toBe(0);
    expect(doctor.out).toMatch(new RegExp(`^ok +lock +held by a gateway \\(pid ${running.child.pid}`, 'm'));
    expect(doctor.out).toMatch(/^ok +port +the gateway answers at/m);
    expect(doctor.out).toMatch(/^warn +model +demo\/demo/m);
  });

  test('stop ends it in good order, and the log tells', async () => {
    expect(await instar(home.path, ['stop']).ended).toMatchObject({ code: 0, out: `stopped (pid ${running.child.pid})\n` });
    expect((await running.ended).code).toBe(0);
    expect((await instar(home.path, ['logs']).ended).out).toMatch(/^20\S+ info ready: Instar \S+ pid=\d+$/m);
    const logs = await instar(home.path, ['logs', '--json', '-n', '1']).ended;
    expect(json(logs.out)).toMatchObject({ level: 'info', message: 'stopped' });
    expect((await instar(home.path, ['logs', '-n', '1']).ended).out).toMatch(/^20\S+ info stopped\n$/);
  });
});

test('where no gateway runs, status says so and exits with 1, and stop has nothing to do', async () => {
  await using home = await folder();
  const status = await instar(home.path, ['status']).ended;
  expect(status).toEqual({ code: 1, out: '', err: `instar: no gateway runs on ${home.path}; "instar start" runs one\n` });
  expect(await instar(home.path, ['stop']).ended).toMatchObject({ code: 0, out: `no gateway runs on ${home.path}\n` });
});

test('U246: a model that cannot be reached is one line with its code on stderr, and exit 1', async () => {
  const providers = "{ p: { baseUrl: 'http://127.0.0.1:1/v1', models: [{ id: 'm' }] } }";
  await using home = await folder({ 'instar.json5': `{ models: { providers: ${providers} }, agents: { defaults: { model: 'p/m' } } }` });
  const { code, err } = await instar(home.path, ['chat', 'hello']).ended;
  expect(code).toBe(1);
  expect(err).toMatch(/^instar: MODEL_UNREACHABLE: .*127\.0\.0\.1:1.*\n$/);
});

test('doctor names each thing that is wrong in a line of its own and exits with 1', async () => {
  await using home = await folder({ 'instar.json5': '{ gateway: { prot: 1 }, agnets: {} }' });
  const { code, out } = await instar(home.path, ['doctor']).ended;
  expect(code).toBe(1);
  expect(out).toMatch(/^fail +plugins +.*instar\.json5:1:14 gateway\.prot: unknown key "prot" \(did you mean "port"\?\)$/m);
  expect(out).toMatch(/^fail +plugins +.*instar\.json5:1:25 agnets: unknown key "agnets"/m);
});

long('SPEC 15.2: a command whose gateway is killed under it takes over and finishes its turn', async () => {
  await using home = await folder({ 'instar.json5': "{ tools: { exec: { security: 'full' } } }" });
  await using owner = instar(home.path, ['agent', '--message', 'run `sleep 30`', '--session', 'a']);
  const url = await announced(home.path);
  const token = readFileSync(home.at('token'), 'utf8').trim();
  const watcher = await connect(url, token);
  await watcher.call('events.watch');
  const began = new Promise<void>((resolve) =>
    watcher.listen(({ type, sessionKey }) => type === 'tool_execution_start' && sessionKey === 'agent:main:b' && resolve()),
  );
  await using other = instar(home.path, ['agent', '--message', 'run `sleep 30`', '--session', 'b']);
  await began;
  owner.child.kill('SIGKILL');
  const { code, out } = await other.ended;
  expect(code).toBe(0);
  expect(out).toContain('interrupted'); // what became of the call is unknown, and the answer says so
  watcher.close();
});

/** The address of the gateway that comes to hold this state folder. */
async function announced(home: string): Promise<string> {
  const watcher = watch(home);
  for (;;) {
    const url = readHolder(home)?.url;
    if (typeof url === 'string') return (watcher.close(), url);
    await once(watcher, 'change');
  }
}

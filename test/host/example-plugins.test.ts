import { once } from 'node:events';
import { cpSync, globSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join, relative } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { type Plugin, StartReport } from '../../kernel/index.ts';
import { bundle } from '../../plugins/cli/bundle.ts';
import type { ModelRequest } from '../../plugins/models/contract.ts';
import { bundledPlugins, entry, fakeChannel, fakeModel, leakCheck, type Reply, testKernel } from '../../plugins/testing/kit.ts';
import { start } from './booted.ts';
import { folder } from './folder.ts';
import { instar } from './instar.ts';

const root = join(import.meta.dirname, '../../examples/plugins');
const names = globSync('../**/index.{ts,js}', { cwd: root }).map((file) => relative(root, join(root, dirname(file))));

/** `call <tool> <arguments>` calls it; anything else is said back. */
function reply({ messages }: ModelRequest): Reply {
  const last = messages.at(-1);
  const said = last?.role === 'user' && typeof last.content === 'string' ? last.content : '';
  const [, name = '', args = '{}'] = /^call (\S+) (.*)/.exec(said) ?? [];
  return name ? { calls: [{ name, args: JSON.parse(args) as Record<string, unknown> }] } : `heard: ${JSON.stringify(last?.content)}`;
}

type Config = Readonly<Record<string, object>>;

/** The whole product with these examples, made of their files as a user's plugins are; `config` is by plugin. */
async function scene(examples: readonly string[], config: Config = {}) {
  const [model, channel] = [fakeModel(reply), fakeChannel()];
  const made = await Promise.all(examples.map((name) => bundle(join(root, name, 'index.ts'))));
  const own = made.map(({ value, codeHash }) => entry(value as Plugin, codeHash));
  const others = [...(await bundledPlugins(['watch'])), model, channel]; // its watchers come when they come
  const entries = Object.fromEntries(Object.entries(config).map(([name, values]) => [name, { config: values }]));
  const t = await testKernel({
    plugins: [...others, ...own],
    config: { agents: { defaults: { model: 'fake/fake' } }, plugins: { entries } },
  });
  const offered = (agent = 'main') => t.kernel.run((run) => run.tools(), { subject: { agent, sender: 'owner' } });
  return { t, model, channel, others, offered, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() };
}

/** What each example is for, seen. */
const effects: Readonly<Record<string, () => Promise<void>>> = {
  async dice() {
    await using s = await scene(['dice']);
    const { text } = await s.channel.ask('call roll_dice {"count": 3}');
    expect(text).toMatch(/[1-6] [1-6] [1-6]/);
  },
  async 'office-hours'() {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date(2026, 4, 5, 12) });
    await using s = await scene(['office-hours']);
    const exec = async () => (await s.offered()).tools.some(({ name }) => name === 'exec');
    expect(await exec()).toBe(true);
    vi.setSystemTime(new Date(2026, 4, 5, 18));
    expect(await exec()).toBe(false);
    const why = { tool: 'exec', why: expect.stringContaining('from 8 to 18'), rule: expect.stringContaining('office-hours') };
    expect((await s.offered()).removed).toContainEqual(why);
  },
  async manners() {
    await using s = await scene(['manners']);
    const told = async (channel: string) => {
      await s.channel.ask('hello', { subject: { channel, sender: 'owner', session: 'main' } });
      return s.model.requests.at(-1)?.system;
    };
    expect(await told('terminal')).toContain('You are read in a terminal');
    expect(await told('webchat')).not.toContain('You are read in a terminal');
  },
  async redact() {
    await using s = await scene(['redact'], { redact: { refuse: ['project x'] } });
    expect((await s.channel.ask('card 4111-1111 1111 1111, order 4111111111111112')).text).toMatch(
      /card \[card number\], order 4111111111111112/,
    );
    const parts = [{ type: 'text', text: '5555555555554444' } as const];
    await s.channel.ask('', { content: parts });
    expect((await s.channel.ask('what is Project X?')).text).toBe('Messages about "project x" are not answered here.');
    expect(JSON.stringify(s.model.requests)).not.toMatch(/5555555555554444|4111-1111|Project X/);
  },
  async 'tool-log'() {
    await using s = await scene(['tool-log']);
    await s.channel.ask('call read {"path": "."}');
    await s.channel.ask('call read {"path": "no/such/file"}');
    const told = s.t.records.filter(({ plugin }) => plugin === 'tool-log');
    expect(told.map(({ message }) => message)).toEqual(['read is done', expect.stringMatching(/^read (said no|broke)$/)]);
    expect(told[0]).toMatchObject({ arguments: ['path'], ms: expect.any(Number) });
  },
  async eliza() {
    await using s = await scene(['eliza']);
    expect((await s.channel.ask('I need my coffee.', { model: 'eliza/1966' })).text).toBe('Why do you need your coffee?');
    expect(s.model.requests).toEqual([]);
  },
  async 'tcp-lines'() {
    await using s = await scene(['tcp-lines']);
    const report = await s.t.kernel.run((run) => run.call(StartReport, []));
    const port = Number(report.find(({ label }) => label === 'tcp-lines')?.value.split(':')[1]);
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    const answer = async (line: string) => {
      socket.write(`${line}\n`);
      return String((await once(socket, 'data'))[0]);
    };
    expect(await answer('hello')).toContain('hello');
    await s.t.reload('tcp-lines');
    expect(await answer('still there?')).toContain('still there?');
    await s.t.apply(s.others); // without it the socket is let go
    await once(socket, 'close');
  },
  async notes() {
    await using s = await scene(['notes', 'notes-tools']);
    await s.channel.ask('call remember {"note": "buy milk"}');
    await s.t.reload('notes');
    await s.channel.ask('call recall {}');
    expect(JSON.stringify(s.model.requests.at(-1)?.messages.at(-1))).toContain('buy milk');
  },
  async 'notes-tools'() {
    await using s = await scene(['notes-tools']);
    expect((await s.offered()).tools.filter(({ name }) => /^(remember|recall)$/.test(name))).toEqual([]);
    await using both = await scene(['notes', 'notes-tools']);
    expect((await both.offered()).tools.filter(({ name }) => /^(remember|recall)$/.test(name))).toHaveLength(2);
  },
  async 'check-in'() {
    await using s = await scene(['check-in'], { 'check-in': { everySeconds: 1, ask: 'all well?' } });
    const answers = () => s.t.records.filter(({ plugin, message }) => plugin === 'check-in' && /the agent says: .*all well/.test(message));
    await expect.poll(() => answers().length, { interval: 10, timeout: 10_000 }).toBe(2);
    const [first, second] = s.model.requests;
    expect(first?.messages).toHaveLength(1);
    expect(second?.messages.length).toBeGreaterThan(1); // one session, in which it goes on
  },
  async recap() {
    await using home = await folder();
    cpSync(join(root, 'recap'), home.at('plugins/recap'), { recursive: true });
    expect((await instar(home.path, ['--help']).ended).out).toMatch(/of your plugins:\n {2}recap +Tell what was said last\n/);
    await instar(home.path, ['chat', 'good morning']).ended;
    const { code, out, err } = await instar(home.path, ['recap', '--json']).ended;
    expect([code, err]).toEqual([0, '']);
    const said = [
      { who: 'you', text: 'good morning' },
      { who: 'agent', text: expect.any(String) },
    ];
    expect(JSON.parse(out)).toEqual({ key: 'agent:main:main', said });
  },
};

afterEach(() => vi.useRealTimers());

test('each example of a plugin has a test that shows its effect', () => {
  expect(names.toSorted()).toEqual(Object.keys(effects).toSorted());
});

test.for(names)('SPEC 16.2: the example plugin %s does what it says', { timeout: 30_000 }, async (name) => {
  await effects[name]?.();
});

test.for(names)('the example plugin %s reloads without a leak', async (name) => {
  using leaks = leakCheck();
  await using s = await scene([name]);
  await s.t.reload(name);
  leaks.mark();
  for (let i = 0; i < 5; i++) await s.t.reload(name);
  expect(await leaks.found(10_000)).toEqual([]);
});

test('SPEC 16.2: all of them are found and live side by side, and each says what it is', async () => {
  await using home = await folder({ 'instar.json5': JSON.stringify({ plugins: { paths: [root] } }) });
  await using gateway = await start(home);
  const { leftOut, instances } = await gateway.inspect();
  expect(leftOut).toEqual([]);
  expect(instances.map(({ plugin }) => plugin)).toEqual(expect.arrayContaining(names));
  expect(
    globSync('*/README.md', { cwd: root })
      .map((file) => dirname(file))
      .toSorted(),
  ).toEqual(names.toSorted());
});

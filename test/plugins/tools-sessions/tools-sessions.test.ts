import { expect, test } from 'vitest';
import { given, type Subject } from '../../../kernel/index.ts';
import agents from '../../../plugins/agents/index.ts';
import models from '../../../plugins/models/index.ts';
import { ToolAbsences } from '../../../plugins/policy/contract.ts';
import { Sessions } from '../../../plugins/sessions/contract.ts';
import sessions from '../../../plugins/sessions/index.ts';
import store from '../../../plugins/store/index.ts';
import toolsSessions from '../../../plugins/tools-sessions/index.ts';
import { Turn } from '../../../plugins/turns/contract.ts';
import { bootTest, type TestKernel } from '../../support/kernel.ts';
import { allowAll, textOf, turnIn } from '../../support/toolbench.ts';

const plugins = [store, agents, models, sessions, toolsSessions, allowAll];
const owner: Subject = { agent: 'main', sender: 'owner', session: 'main', channel: 'chat', depth: 0 };

const call = (t: TestKernel, name: string, args: object = {}, subject: Subject = owner, key = 'agent:main:main') =>
  t.callTool(name, args, { subject, values: [given(Turn, { ...turnIn(t.home), agentId: subject.agent ?? 'main', sessionKey: key })] });

const usage = { input: 100, output: 20, cacheRead: 30, cacheWrite: 0, totalTokens: 150, cost: { total: 0.01 } };
const answer = {
  role: 'assistant',
  content: [{ type: 'text', text: 'hi' }],
  api: 'x',
  provider: 'test',
  model: 'm',
  usage,
  stopReason: 'stop',
  timestamp: 1,
} as const;

async function boot(config: object = {}) {
  const t = await bootTest(plugins, { agents: { list: [{ id: 'main', default: true }, { id: 'other' }] }, ...config });
  await t.kernel.run(async (run) => {
    for (const key of ['agent:main:main', 'agent:main:direct:ann', 'agent:other:main'])
      await run.get(Sessions).ensure(key, { agentId: key.split(':')[1] ?? '', title: key });
    const transcript = await run.get(Sessions).open('agent:main:main');
    await transcript.append({ role: 'user', content: 'hello', timestamp: 1 });
    await transcript.append(answer);
    await transcript.append({ ...answer, usage: { ...usage, totalTokens: 500 } });
  });
  return t;
}

test('SPEC 2.1: session_status tells the time where the people are, the model, what was used and what waits', async () => {
  await using t = await boot({ agents: { defaults: { userTimezone: 'Asia/Tokyo' }, list: [{ id: 'main' }] } });
  const said = textOf(await call(t, 'session_status'));
  expect(said).toMatch(/^time: \w+,? \d+ \w+ \d{4}.* \(Asia\/Tokyo; \d{4}-\d\d-\d\dT/);
  expect(said).toContain('model: test/m, context window 1,000 tokens');
  expect(said).toContain('context: 500 tokens at the last request (50 % of the window)');
  expect(said).toContain('usage: 2 requests, 200 tokens in, 40 out, 60 from cache, $0.0200');
  expect(said).toMatch(/messages: 3\nsession: agent:main:main, id \S+, agent main, "agent:main:main"/);
  expect(said).toContain('waiting: nothing');
});

test('a time zone that there is not is told, and the time is still told', async () => {
  await using t = await boot({ agents: { defaults: { userTimezone: 'Mars/Olympus' }, list: [{ id: 'main' }] } });
  expect(textOf(await call(t, 'session_status'))).toMatch(
    /^time: \d{4}-\d\d-\d\dT\S+ \(the time zone "Mars\/Olympus" of agents\.defaults\.userTimezone is unknown\)/,
  );
});

const seen: readonly (readonly [what: string, subject: Subject, own: string, asked: string, isSeen: boolean])[] = [
  ['a session its own', { ...owner, sender: 'unknown', session: 'group' }, 'agent:main:direct:ann', 'agent:main:direct:ann', true],
  ['the owner another of the same agent', owner, 'agent:main:main', 'agent:main:direct:ann', true],
  ['the owner one of another agent', owner, 'agent:main:main', 'agent:other:main', false],
  ['a guest that of the owner', { ...owner, sender: 'known', session: 'direct' }, 'agent:main:direct:ann', 'agent:main:main', false],
  ['a sub-agent that of its parent (U086)', { ...owner, session: 'subagent', depth: 1 }, 'agent:main:direct:ann', 'agent:main:main', false],
  [
    'the owner, from a sandbox, that of the host',
    { ...owner, session: 'direct', sandboxed: true },
    'agent:main:direct:ann',
    'agent:main:main',
    false,
  ],
  ['a sandbox its own', { ...owner, session: 'direct', sandboxed: true }, 'agent:main:direct:ann', 'agent:main:direct:ann', true],
  ['a group that of the owner', { ...owner, session: 'group' }, 'agent:main:direct:ann', 'agent:main:main', false],
  ['the owner one that is not there', owner, 'agent:main:main', 'agent:main:nowhere', false],
];
test.each(seen)('of sessions sees %s: %#', async (_, subject, own, asked, isSeen) => {
  await using t = await boot();
  const result = await call(t, 'session_status', { sessionKey: asked }, subject, own);
  expect(result.isError ?? false).toBe(!isSeen);
  expect(textOf(result).includes(`session: ${asked}`)).toBe(isSeen);
});

const lists: readonly (readonly [what: string, allowAgents: readonly string[] | undefined, ids: readonly string[], last: RegExp])[] = [
  ['nothing: itself', undefined, ['main'], /\[2 more agents are not allowed by subagents\.allowAgents of "main"\]$/],
  ['one', ['other'], ['main', 'other'], /- other · The Other · test\/m2\n\[1 more agent is not allowed/],
  ['every agent', ['*'], ['main', 'other', 'third'], /- third$/],
];
test.each(lists)('SPEC 8.9: where allowAgents names %s, agents_list lists those that can be started', async (_, allowAgents, ids, last) => {
  const main = { id: 'main', default: true, ...(allowAgents && { subagents: { allowAgents } }) };
  await using t = await boot({ agents: { list: [main, { id: 'other', name: 'The Other', model: 'test/m2' }, { id: 'third' }] } });
  const result = await call(t, 'agents_list');
  expect(textOf(result)).toMatch(/^- main \(you\)/);
  expect(textOf(result)).toMatch(last);
  expect(result.details).toMatchObject({ requester: 'main', allowAny: allowAgents?.[0] === '*', agents: ids.map((id) => ({ id })) });
});

test('SPEC 2.1: without what they ask, neither is offered, and the reason is told', async () => {
  await using t = await bootTest([toolsSessions, allowAll]);
  const { tools, absences } = await t.kernel.run(async (run) => ({
    tools: (await run.tools()).tools,
    absences: await run.call(ToolAbsences, []),
  }));
  expect(tools).toEqual([]);
  expect(absences).toEqual([
    { tool: 'agents_list', why: 'plugin "agents" is not live' },
    { tool: 'session_status', why: 'plugin "sessions" is not live' },
  ]);
});

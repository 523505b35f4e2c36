import { expect, test } from 'vitest';
import agents from '../../../plugins/agents/index.ts';
import { Methods } from '../../../plugins/gateway/contract.ts';
import { type Explanation, type Inbound, Routing } from '../../../plugins/routing/contract.ts';
import routing from '../../../plugins/routing/index.ts';
import sessions from '../../../plugins/sessions/index.ts';
import store from '../../../plugins/store/index.ts';
import { bootTest, entry, testKernel, type TestKernel } from '../../support/kernel.ts';

const plugins = [store, agents, sessions, routing];
const two = { agents: { list: [{ id: 'main' }, { id: 'Family', groupChat: { mentionPatterns: ['mum'] } }] } };
const group: Inbound = { channel: 'whatsapp', peer: { kind: 'group', id: '1203@g.us' } };
const toFamily = { agentId: 'family', match: { channel: 'whatsapp', peer: { kind: 'group', id: '1203@g.us' } } };

const decide = (t: TestKernel, inbound: Inbound) => t.kernel.run((run) => run.get(Routing).decide(inbound, run));

async function explain(t: TestKernel, params: Record<string, unknown>): Promise<Explanation> {
  return t.kernel.run(async (run) => {
    const methods = await run.call(Methods, {});
    return (await methods['route.explain']?.(params, {} as never, run)) as Explanation;
  });
}

test('SPEC 1.5: no match, and no bindings at all, go to the default agent', async () => {
  await using t = await bootTest(plugins, two);
  expect(await decide(t, group)).toMatchObject({
    agentId: 'main',
    sessionKey: 'agent:main:whatsapp:group:1203@g.us',
    tier: 'default',
    reason: 'there are no bindings, and "main" is the default agent',
  });
  await t.apply(plugins, { ...two, bindings: [toFamily] });
  expect((await decide(t, { channel: 'whatsapp' })).reason).toBe('no binding fits, and "main" is the default agent');
});

test('SPEC 1.5: a message goes by the bindings that are live now; type may be missing; ids of agents differ in case', async () => {
  await using t = await bootTest(plugins, { ...two, bindings: [toFamily] });
  expect(await decide(t, group)).toMatchObject({
    agentId: 'Family',
    sessionKey: 'agent:Family:whatsapp:group:1203@g.us',
    session: 'group',
  });
  await t.apply(plugins, { ...two, bindings: [{ ...toFamily, type: 'route', agentId: 'main' }] });
  expect(await decide(t, group)).toMatchObject({ agentId: 'main', reason: 'bindings[0] is for group:1203@g.us' });
});

test('SPEC 1.5: messages of many chats at the same moment have each its own agent', async () => {
  await using t = await bootTest(plugins, { ...two, bindings: [toFamily] });
  const rounds = Array.from({ length: 1000 }, (_, i) =>
    i % 2 ? group : { channel: 'whatsapp', peer: { kind: 'group', id: 'other' } as const },
  );
  const decided = await t.kernel.run((run) => Promise.all(rounds.map(async (one) => run.get(Routing).decide(one, run).agentId)));
  expect(decided).toEqual(rounds.map((_, i) => (i % 2 ? 'Family' : 'main')));
});

test('session.dmScope, mainKey and identityLinks make the key; a binding may have a scope of its own', async () => {
  const session = { dmScope: 'per-peer', mainKey: 'home', identityLinks: { alice: ['telegram:1'] } };
  const bindings = [{ agentId: 'Family', match: { channel: 'telegram' }, session: { dmScope: 'main' } }];
  const dm: Inbound = { channel: 'telegram', peer: { kind: 'direct', id: '1' } };
  await using t = await bootTest(plugins, { ...two, session });
  expect((await decide(t, dm)).sessionKey).toBe('agent:main:direct:alice');
  await t.apply(plugins, { ...two, session, bindings });
  expect(await decide(t, dm)).toMatchObject({
    sessionKey: 'agent:Family:home',
    session: 'main',
    sessionReason: 'bindings[0].session.dmScope is "main": direct chats share one session',
  });
});

const match = { channel: 'x' };
test.each([
  [
    'an unknown agent',
    { bindings: [{ agentId: 'famly', match }] },
    /bindings\[0\]\.agentId: there is no agent "famly"; did you mean "Family"\?/,
  ],
  ['an agent like no other', { bindings: [{ agentId: 'zzzzzz', match }] }, /agents here: main, Family/],
  [
    'two unknown agents, both',
    {
      bindings: [
        { agentId: 'zzzzzz', match },
        { agentId: 'famly', match },
      ],
    },
    /bindings\[0\][^]*bindings\[1\]/,
  ],
  [
    'a pattern',
    { agents: { list: [{ id: 'a', groupChat: { mentionPatterns: ['ok', '('] } }] } },
    /agents\.list\[0\]\.groupChat\.mentionPatterns\[1\]: .*missing closing/,
  ],
  [
    'a pattern of the defaults',
    { agents: { defaults: { groupChat: { mentionPatterns: ['['] } } } },
    /^agents\.defaults\.groupChat\.mentionPatterns\[0\]/,
  ],
  ['a match without a channel', { bindings: [{ agentId: 'main', match: {} }] }, /bindings\[0\]\.match: "channel" is missing/],
  ['an unknown key', { bindings: [{ agentId: 'main', match: { channel: 'x', acountId: 'y' } }] }, /acountId.*did you mean "accountId"/],
  [
    'an unknown kind',
    { bindings: [{ agentId: 'main', match: { channel: 'x', peer: { kind: 'grup', id: '1' } } }] },
    /peer\.kind: must be one of direct, dm, group, channel/,
  ],
  ['an unknown type', { bindings: [{ type: 'acp', agentId: 'main', match }] }, /bindings\[0\]\.type: must be one of route/],
  ['an unknown scope', { session: { dmScope: 'per-per' } }, /session\.dmScope: must be one of main, per-peer/],
])('SPEC 1.3: %s is a fault of the config, with its place, at boot and live', async (_, config, message) => {
  await using t = await testKernel();
  await expect(t.apply(plugins, { ...two, ...config })).rejects.toMatchObject({ message: expect.stringMatching(message) });
  await t.apply(plugins, two);
  await expect(t.apply(plugins, { ...two, ...config })).rejects.toMatchObject({ message: expect.stringMatching(message) });
  expect((await decide(t, group)).agentId).toBe('main');
});

test('an agent that goes while a binding names it is a fault, though the bindings did not change', async () => {
  await using t = await bootTest(plugins, { ...two, bindings: [toFamily] });
  await expect(t.apply(plugins, { agents: { list: [{ id: 'main' }] }, bindings: [toFamily] })).rejects.toMatchObject({
    message: expect.stringContaining('there is no agent "family"'),
  });
});

test('route.explain answers as the decision is, with the place of each binding, its comment, and a slip', async () => {
  await using t = await bootTest(plugins, {
    ...two,
    bindings: [
      { ...toFamily, comment: 'us' },
      { agentId: 'main', match: { channel: 'slack' } },
    ],
  });
  const told = await explain(t, { channel: 'whatsapp', peer: 'group:1203@g.us', text: 'ask mum' });
  expect(told).toMatchObject({
    agentId: 'Family',
    winner: { index: 0, place: 'bindings[0]', comment: 'us' },
    lost: [{ index: 1, place: 'bindings[1]', why: 'is for slack' }],
    mention: { isMentioned: true, by: 'mum' },
  });
  const { agentId, sessionKey } = await decide(t, group);
  await t.kernel.run((run) => expect(run.get(Routing).originOf(sessionKey)).toEqual({ agentId, ...group }));
  expect(told).toMatchObject({ agentId, sessionKey });
  expect(await explain(t, { channel: 'slak' })).toMatchObject({ hint: 'no binding is for channel "slak"; did you mean "slack"?' });
});

test.each([
  [{}, '"channel" is missing'],
  [{ channel: 7 }, '"channel" must be 1 to 512 characters'],
  [{ channel: 'x', peer: '123' }, '"peer" is kind:id such as direct:123'],
  [{ channel: 'x', peer: 'grup:1' }, 'did you mean "group"?'],
  [{ channel: 'x', peer: 'direct:' }, '"peer" is kind:id'],
  [{ channel: 'x', threadId: '1' }, '"threadId" needs "peer"'],
  [{ channel: 'x', roles: 'admin' }, '"roles" must be a list'],
  [{ channel: 'x', roles: [1] }, '"roles[0]" must be 1 to 512 characters'],
])('route.explain refuses %j', async (params, message) => {
  await using t = await bootTest(plugins, two);
  await expect(explain(t, params)).rejects.toMatchObject({ status: 400, code: 'ROUTE_PARAMS', message: expect.stringContaining(message) });
});

test('SPEC 16.1: the plugin goes while the others run', async () => {
  await using t = await bootTest(
    plugins.map((one) => entry(one)),
    two,
  );
  await t.apply(
    plugins.filter((one) => one !== routing),
    {}, // the host knows the keys of a plugin that is off; this kernel has no host
  );
  await t.kernel.run((run) => expect(run.find(Routing)).toBeUndefined());
});

import { expect, test, vi } from 'vitest';
import type { CommandHost } from '../../../plugins/cli/contract.ts';
import { run } from '../../../plugins/routing/command.ts';
import type { Explanation } from '../../../plugins/routing/contract.ts';
import { show } from '../../../plugins/routing/show.ts';
import { folder } from '../../host/folder.ts';
import { instar } from '../../host/instar.ts';

const config = `{
  agents: { list: [{ id: 'main' }, { id: 'family' }, { id: 'work' }] },
  bindings: [
    { agentId: 'work', match: { channel: 'slack', teamId: 'T1' }, comment: 'the company' },
    { agentId: 'family', match: { channel: 'telegram', peer: { kind: 'group', id: '-1001' } } },
  ],
}`;

test('SPEC 15.2: instar route explain tells the winner, the session, and why and where each other binding lost', async () => {
  await using home = await folder({ 'instar.json5': config });
  const args = ['route', 'explain', '--channel', 'telegram', '--peer', 'group:-1001', '--thread', '7'];
  const told = await instar(home.path, args).ended;
  expect([told.code, told.err]).toEqual([0, '']);
  expect(told.out).toMatch(/^ {2}agent +family$/m);
  expect(told.out).toMatch(/bindings\[1\] is for group:-1001, which the thread is in .*instar\.json5:5:5$/m);
  expect(told.out).toMatch(/^ {2}session +agent:family:telegram:group:-1001:topic:7$/m);
  expect(told.out).toMatch(/^ {2}\[0\] work +\S*instar\.json5:4:5 +is for slack — the company$/m);
}, 60_000);

const explanation: Explanation = {
  inbound: { channel: 'x', accountId: 'default' },
  agentId: 'main',
  sessionKey: 'agent:main:main',
  session: 'main',
  tier: 'default',
  reason: 'there are no bindings',
  sessionReason: 'no peer is named',
  lost: [],
};

async function call(...args: string[]) {
  const ask = vi.fn<(method: string, params: unknown) => Promise<Explanation>>(async () => explanation);
  using out = vi.spyOn(console, 'log').mockReturnValue();
  const code = await run(args, { ask } as unknown as CommandHost);
  return { code, asked: ask.mock.calls, out: out.mock.calls.join('\n') };
}

test('each option is a parameter of the question; --json is the answer as it is', async () => {
  const options = [
    '--account',
    'a',
    '--peer',
    'dm:1',
    '--thread',
    't',
    '--guild',
    'g',
    '--team',
    'm',
    '--role',
    '1',
    '--role',
    '2',
    '--text',
    'hi',
  ];
  const { code, asked, out } = await call('explain', '--channel', 'x', ...options, '--json');
  const params = { channel: 'x', accountId: 'a', peer: 'dm:1', threadId: 't', guildId: 'g', teamId: 'm', roles: ['1', '2'], text: 'hi' };
  expect([code, asked]).toEqual([0, [['route.explain', params]]]);
  expect(JSON.parse(out)).toEqual(explanation);
});

test.each([
  ['no verb', [], /^route needs a verb$/],
  ['another verb', ['explian'], /^route has no "explian"; did you mean "explain"\?$/],
  ['no channel', ['explain'], /^--channel is missing$/],
  ['a thread in no chat', ['explain', '--channel', 'x', '--thread', '1'], /^--thread needs --peer/],
])('%s is a wrong use, and asks nothing', async (_, args, message) => {
  await expect(call(...args)).rejects.toMatchObject({ code: 'CLI_USAGE', message: expect.stringMatching(message) });
});

test('SPEC 1.3: a binding that names no agent ends a start with its place', async () => {
  await using home = await folder({ 'instar.json5': config.replace("agentId: 'work'", "agentId: 'wrok'") });
  const { code, err } = await instar(home.path, ['start', '--port', '0']).ended;
  expect([code, err]).toEqual([
    78,
    expect.stringMatching(/instar\.json5:4:7 bindings\[0\]\.agentId: there is no agent "wrok"; did you mean "work"\?/),
  ]);
}, 60_000);

test('nothing of an explanation moves the cursor', () => {
  const evil = '\u001b[2J\u202e';
  const told: Explanation = {
    ...explanation,
    inbound: { channel: evil, accountId: evil, peer: { kind: 'direct', id: evil } },
    sessionKey: evil,
    reason: evil,
    sessionReason: evil,
    winner: { index: 0, agentId: evil, why: evil, place: evil, comment: evil },
    lost: [{ index: 0, agentId: evil, why: evil, place: evil, comment: evil }],
    mention: { isMentioned: false, why: evil },
    hint: evil,
  };
  expect(show(told)).not.toMatch(/\u001b\[2J|\u202e/);
});

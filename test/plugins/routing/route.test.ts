import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Inbound, Peer, Tier } from '../../../plugins/routing/contract.ts';
import { route } from '../../../plugins/routing/route.ts';
import type { Binding, Match } from '../../../plugins/routing/schema.ts';

const to = (agentId: string, match: Match): Binding => ({ agentId, match });
const room = (id: string): Peer => ({ kind: 'channel', id });

/** One of each tier, the least specific first, so that order alone would let the wrong one win. */
const ladder: readonly Binding[] = [
  to('channel', { channel: 'discord', accountId: '*' }),
  to('account', { channel: 'discord' }),
  to('team', { channel: 'discord', teamId: 'T' }),
  to('guild', { channel: 'discord', guildId: 'G' }),
  to('roles', { channel: 'discord', guildId: 'G', roles: ['r1', 'r2'] }),
  to('any', { channel: 'discord', peer: { kind: 'channel', id: '*' } }),
  to('parent', { channel: 'discord', peer: { kind: 'channel', id: 'room' } }),
  to('peer', { channel: 'discord', peer: { kind: 'channel', id: 'thread' } }),
];
const everything: Inbound = { channel: 'discord', peer: room('room'), threadId: 'thread', guildId: 'G', teamId: 'T', roles: ['r2'] };

test('SPEC 1.5: peer, its parent, any peer, guild with roles, guild, team, account, channel, default: each wins once those before it are gone', () => {
  const order: readonly Tier[] = ['peer', 'parent peer', 'any peer', 'guild with roles', 'guild', 'team', 'account', 'channel', 'default'];
  const found = order.map((_, gone) => route(ladder.slice(0, ladder.length - gone), everything).tier);
  expect(found).toEqual(order);
});

test('SPEC 1.5: every binding that lost says why, and none is missing', () => {
  const { winner, lost } = route(ladder, everything);
  expect(winner).toEqual({ index: 7, agentId: 'peer', why: 'is for the thread thread' });
  expect(lost.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(lost[6]?.why).toBe('fits too, but peer comes before parent peer');
});

test('of equals the first in the config wins', () => {
  const { winner, lost } = route([to('a', { channel: 'x' }), to('b', { channel: 'x' })], { channel: 'x' });
  expect(winner?.agentId).toBe('a');
  expect(lost).toEqual([{ index: 1, agentId: 'b', why: 'fits as well, but stands later in the list' }]);
});

interface Row {
  readonly what: string;
  readonly match: Match;
  readonly inbound: Inbound;
  /** Why it lost; a tier where it won. */
  readonly is: Tier | RegExp;
}
const dm: Inbound = { channel: 'telegram', peer: { kind: 'direct', id: '123' } };
const rows: readonly Row[] = [
  { what: 'another channel', match: { channel: 'slack' }, inbound: dm, is: /^is for slack$/ },
  { what: 'case and space of a channel are no difference', match: { channel: ' Telegram' }, inbound: dm, is: 'account' },
  {
    what: 'without an account a binding is for the default one',
    match: { channel: 'telegram' },
    inbound: { ...dm, accountId: 'default' },
    is: 'account',
  },
  {
    what: '… and for no other',
    match: { channel: 'telegram' },
    inbound: { ...dm, accountId: 'work' },
    is: /^names no account, which means "default" and not "work"/,
  },
  {
    what: 'an account by name, in any case',
    match: { channel: 'telegram', accountId: 'Work' },
    inbound: { ...dm, accountId: 'work' },
    is: 'account',
  },
  {
    what: 'an account that is another',
    match: { channel: 'telegram', accountId: 'work' },
    inbound: dm,
    is: /^is for account "work", not for "default"$/,
  },
  { what: '* is any account', match: { channel: 'telegram', accountId: '*' }, inbound: { ...dm, accountId: 'work' }, is: 'channel' },
  {
    what: 'a peer counts on its own account only',
    match: { channel: 'telegram', peer: { kind: 'direct', id: '123' } },
    inbound: { ...dm, accountId: 'work' },
    is: /names no account/,
  },
  { what: 'dm is direct', match: { channel: 'telegram', peer: { kind: 'dm', id: '123' } }, inbound: dm, is: 'peer' },
  { what: 'an id may be a number', match: { channel: 'telegram', peer: { kind: 'direct', id: 123 } }, inbound: dm, is: 'peer' },
  {
    what: 'a person is no group',
    match: { channel: 'telegram', peer: { kind: 'group', id: '123' } },
    inbound: dm,
    is: /^is for group:123, not for direct:123$/,
  },
  {
    what: 'group and channel fit each other',
    match: { channel: 'x', peer: { kind: 'group', id: 'r' } },
    inbound: { channel: 'x', peer: room('r') },
    is: 'peer',
  },
  {
    what: 'a peer where the message has none',
    match: { channel: 'x', peer: { kind: 'group', id: 'r' } },
    inbound: { channel: 'x' },
    is: /names no peer$/,
  },
  {
    what: 'case of ids counts',
    match: { channel: 'matrix', peer: { kind: 'group', id: '!ABC' } },
    inbound: { channel: 'matrix', peer: { kind: 'group', id: '!abc' } },
    is: /\(case counts here\)$/,
  },
  {
    what: '… except where the platform ignores it',
    match: { channel: 'slack', peer: { kind: 'channel', id: 'c1' } },
    inbound: { channel: 'slack', peer: room('C1') },
    is: 'peer',
  },
  {
    what: 'every group',
    match: { channel: 'x', peer: { kind: 'group', id: '*' } },
    inbound: { channel: 'x', peer: { kind: 'group', id: '9' } },
    is: 'any peer',
  },
  {
    what: 'every group is no person',
    match: { channel: 'x', peer: { kind: 'group', id: '*' } },
    inbound: { channel: 'x', peer: { kind: 'direct', id: '9' } },
    is: /^is for every group chat/,
  },
  {
    what: 'a Telegram topic',
    match: { channel: 'telegram', peer: { kind: 'group', id: '-1:topic:7' } },
    inbound: { channel: 'telegram', peer: { kind: 'group', id: '-1' }, threadId: '7' },
    is: 'peer',
  },
  {
    what: 'another topic of that group',
    match: { channel: 'telegram', peer: { kind: 'group', id: '-1:topic:7' } },
    inbound: { channel: 'telegram', peer: { kind: 'group', id: '-1' }, threadId: '8' },
    is: /or its thread 8$/,
  },
  {
    what: 'a number of a topic is no group',
    match: { channel: 'telegram', peer: { kind: 'group', id: '7' } },
    inbound: { channel: 'telegram', peer: { kind: 'group', id: '-1' }, threadId: '7' },
    is: /^is for group:7/,
  },
  {
    what: 'a thread has the agent of its chat',
    match: { channel: 'slack', peer: { kind: 'channel', id: 'C1' } },
    inbound: { channel: 'slack', peer: room('C1'), threadId: '17.1' },
    is: 'parent peer',
  },
  {
    what: 'another guild',
    match: { channel: 'discord', guildId: 'A' },
    inbound: { channel: 'discord', guildId: 'B' },
    is: /^is for guild A, not for B$/,
  },
  {
    what: 'a guild where the message has none',
    match: { channel: 'discord', guildId: 'A' },
    inbound: { channel: 'discord' },
    is: /names no guild$/,
  },
  {
    what: 'a role the sender lacks',
    match: { channel: 'discord', guildId: 'A', roles: ['1', 2] },
    inbound: { channel: 'discord', guildId: 'A', roles: ['3'] },
    is: /^asks for one of the roles 1, 2; the sender has 3$/,
  },
  {
    what: 'no roles asked for',
    match: { channel: 'discord', guildId: 'A', roles: [] },
    inbound: { channel: 'discord', guildId: 'A' },
    is: 'guild',
  },
  {
    what: 'roles without a guild are still asked for',
    match: { channel: 'discord', roles: ['1'] },
    inbound: { channel: 'discord' },
    is: /the sender has none$/,
  },
  { what: 'a team', match: { channel: 'slack', teamId: 'T1' }, inbound: { channel: 'slack', teamId: 'T1' }, is: 'team' },
  {
    what: 'all that is given must fit: the peer does, the guild does not',
    match: { channel: 'discord', guildId: 'A', peer: { kind: 'channel', id: 'r' } },
    inbound: { channel: 'discord', guildId: 'B', peer: room('r') },
    is: /guild A/,
  },
];

test.each(rows)('SPEC 1.5: $what', ({ match, inbound, is }) => {
  const { tier, lost } = route([to('other', match)], inbound);
  if (is instanceof RegExp) expect([tier, lost[0]?.why]).toEqual(['default', expect.stringMatching(is)]);
  else expect(tier).toBe(is);
});

const word = fc.constantFrom('a', 'b', '*');
const matchOf: fc.Arbitrary<Match> = fc.record(
  {
    channel: fc.constantFrom('x', 'y'),
    accountId: word,
    peer: fc.record({ kind: fc.constantFrom('direct', 'group', 'channel'), id: word }),
    guildId: word,
    teamId: word,
    roles: fc.array(word, { maxLength: 2 }),
  },
  { requiredKeys: ['channel'] },
);
const inboundOf: fc.Arbitrary<Inbound> = fc.record(
  {
    channel: fc.constantFrom('x', 'y'),
    accountId: fc.constantFrom('a', 'b'),
    peer: fc.record({ kind: fc.constantFrom('direct', 'group', 'channel'), id: fc.constantFrom('a', 'b') }),
    threadId: fc.constantFrom('a', 'c'),
    guildId: fc.constantFrom('a', 'b'),
    teamId: fc.constantFrom('a', 'b'),
    roles: fc.array(fc.constantFrom('a', 'b')),
  },
  { requiredKeys: ['channel'] },
);

test('whatever the bindings: one winner at most, every other with a reason, and one that lost by order changes nothing when it goes', () => {
  fc.assert(
    fc.property(fc.array(matchOf, { maxLength: 6 }), inboundOf, (matches, inbound) => {
      const bindings = matches.map((match, i) => to(`a${i}`, match));
      const { winner, lost, tier } = route(bindings, inbound);
      expect(lost.length + (winner ? 1 : 0)).toBe(bindings.length);
      expect(lost.every(({ why }) => why.length > 0)).toBe(true);
      expect(tier === 'default').toBe(winner === undefined);
      const left = bindings.filter((_, i) => i !== lost.at(-1)?.index);
      expect(route(left, inbound).winner?.agentId).toBe(winner?.agentId);
    }),
  );
});

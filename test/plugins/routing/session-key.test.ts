import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Inbound } from '../../../plugins/routing/contract.ts';
import { decodePart, encodePart } from '../../../plugins/routing/key-part.ts';
import { type DmScope, type Keying, parseSessionKey, sessionKeyOf } from '../../../plugins/routing/session-key.ts';

const dm: Inbound = { channel: 'telegram', accountId: 'work', peer: { kind: 'direct', id: '123' } };
const group: Inbound = { channel: 'telegram', peer: { kind: 'group', id: '-1001' } };
const links: Keying = { dmScope: 'per-peer', identityLinks: { Alice: ['telegram:123', 'discord:456'], bob: ['+4912'] } };

const rows: readonly (readonly [what: string, inbound: Inbound, keying: Keying, key: string, session: string])[] = [
  ['direct chats share the main session', dm, {}, 'agent:a:main', 'main'],
  ['… under its name', dm, { mainKey: 'Home' }, 'agent:a:home', 'main'],
  ['… which is one part of the key', dm, { mainKey: 'x:y' }, 'agent:a:x%3Ay', 'main'],
  ['per-peer', dm, { dmScope: 'per-peer' }, 'agent:a:direct:123', 'direct'],
  ['per-channel-peer', dm, { dmScope: 'per-channel-peer' }, 'agent:a:telegram:direct:123', 'direct'],
  ['per-account-channel-peer', dm, { dmScope: 'per-account-channel-peer' }, 'agent:a:telegram:work:direct:123', 'direct'],
  [
    'the default account is named there, too',
    { ...dm, accountId: '' },
    { dmScope: 'per-account-channel-peer' },
    'agent:a:telegram:default:direct:123',
    'direct',
  ],
  ['a group', group, { dmScope: 'per-peer' }, 'agent:a:telegram:group:-1001', 'group'],
  ['a room', { channel: 'slack', peer: { kind: 'channel', id: 'C1' } }, {}, 'agent:a:slack:channel:c1', 'group'],
  [
    'ids keep their case where it counts',
    { channel: 'matrix', peer: { kind: 'group', id: '!aB:x.org' } },
    {},
    'agent:a:matrix:group:!aB%3Ax.org',
    'group',
  ],
  ['a group of another account', { ...group, accountId: 'work' }, {}, 'agent:a:telegram:work:group:-1001', 'group'],
  ['a Telegram topic', { ...group, threadId: '42' }, {}, 'agent:a:telegram:group:-1001:topic:42', 'thread'],
  [
    'a thread',
    { channel: 'discord', peer: { kind: 'channel', id: '1' }, threadId: '9' },
    {},
    'agent:a:discord:channel:1:thread:9',
    'thread',
  ],
  ['a thread of a direct chat', { ...dm, threadId: '9' }, {}, 'agent:a:main:thread:9', 'thread'],
  ['no peer at all', { channel: 'webchat' }, { dmScope: 'per-peer' }, 'agent:a:main', 'main'],
  ['a linked person', dm, links, 'agent:a:direct:alice', 'direct'],
  ['… on another channel', { channel: 'discord', peer: { kind: 'direct', id: '456' } }, links, 'agent:a:direct:alice', 'direct'],
  ['… but not who has that id elsewhere', { channel: 'irc', peer: { kind: 'direct', id: '456' } }, links, 'agent:a:direct:456', 'direct'],
  ['an id linked for every channel', { channel: 'signal', peer: { kind: 'direct', id: '+4912' } }, links, 'agent:a:direct:bob', 'direct'],
  [
    'who merely calls himself alice is not Alice',
    { channel: 'irc', peer: { kind: 'direct', id: 'alice' } },
    links,
    'agent:a:direct:%!alice',
    'direct',
  ],
];

test.each(rows)('SPEC 12.4: %s', (_, inbound, keying, key, session) => {
  expect(sessionKeyOf('a', inbound, keying)).toMatchObject({ key, session, why: expect.stringMatching(/\w/) });
});

test.each([
  ['agent:a:main', { agentId: 'a', mainKey: 'main' }],
  ['agent:a:main:thread:9', { agentId: 'a', mainKey: 'main', threadId: '9' }],
  ['agent:a:direct:1', { agentId: 'a', peer: { kind: 'direct', id: '1' } }],
  ['agent:a:irc:%!alice', undefined],
  ['agent:a:irc:direct:%!alice', { agentId: 'a', channel: 'irc', peer: { kind: 'direct', id: 'alice' } }],
  ['agent:a:subagent:4f1c', undefined],
  ['agent:a:cron:job:run:1', undefined],
  ['agent:a:x:group:%zz', undefined],
  ['agent:a', undefined],
  ['main', undefined],
])('%s is read as what it is', (key, parts) => {
  expect(parseSessionKey(key)).toEqual(parts);
});

const odd = fc.constantFrom(
  ':',
  '%',
  '',
  ' ',
  '/',
  '\n',
  '\u202e',
  '\ud800',
  'a:direct:b',
  'thread',
  'topic',
  '%3A',
  '%!',
  '*',
  'main',
  'default',
  'direct',
);
const id = fc.oneof(
  odd,
  fc.string({ maxLength: 12, unit: 'binary' }),
  fc.constantFrom('1', 'a', 'a:thread:1', 'a%3Athread%3A1'),
  fc.string({ maxLength: 300 }),
);
const inbounds: fc.Arbitrary<Inbound> = fc.record(
  {
    channel: fc.oneof(
      fc.constantFrom('x', 'direct', 'telegram', 'main', 'thread'),
      fc.string({ maxLength: 5 }).map((one) => one.trim()),
    ),
    accountId: fc.oneof(fc.constantFrom('work', 'default', 'direct', 'group'), fc.string({ maxLength: 5 })),
    peer: fc.record({ kind: fc.constantFrom('direct', 'group', 'channel'), id }),
    threadId: id,
  },
  { requiredKeys: ['channel', 'peer'] },
);
const fields: (keyof Inbound)[] = ['channel', 'accountId', 'peer', 'threadId'];
const scopes = fc.constantFrom<DmScope>('main', 'per-peer', 'per-channel-peer', 'per-account-channel-peer');

/** What a key must tell apart, as the config asks for it; written without the code under test. */
function originOf({ channel, accountId, peer, threadId }: Inbound, scope: DmScope): string {
  const account = accountId?.trim().toLowerCase() || 'default';
  const where = {
    main: [],
    'per-peer': [peer],
    'per-channel-peer': [channel.toLowerCase(), peer],
    'per-account-channel-peer': [channel.toLowerCase(), account, peer],
  };
  return JSON.stringify([peer?.kind === 'direct' ? where[scope] : [channel.toLowerCase(), account, peer], threadId ?? null]);
}

test('SPEC 12.4: two origins have one key exactly where session.dmScope says so', () => {
  fc.assert(
    fc.property(inbounds, inbounds, scopes, fc.subarray(fields), (one, other, dmScope, differing) => {
      const second: Inbound = { ...one, ...Object.fromEntries(differing.map((field) => [field, other[field]])) };
      const isSame = originOf(one, dmScope) === originOf(second, dmScope);
      expect(sessionKeyOf('a', one, { dmScope }).key === sessionKeyOf('a', second, { dmScope }).key).toBe(isSame);
    }),
    { numRuns: 2000 },
  );
});

test('keys are one word that a person can type, and are read back as they were made', () => {
  fc.assert(
    fc.property(inbounds, scopes, (inbound, dmScope) => {
      const { key } = sessionKeyOf('agent-1', inbound, { dmScope });
      expect(key).toMatch(/^agent:agent-1:[^\s\p{C}/\\]+$/u);
      expect(key.length).toBeLessThan(1100);
      const parts = parseSessionKey(key);
      if (key.includes('%~')) return;
      const peer = inbound.peer;
      const isMain = peer?.kind === 'direct' && dmScope === 'main';
      expect(parts?.agentId).toBe('agent-1');
      expect(parts?.threadId).toBe(inbound.threadId);
      expect(parts?.peer).toEqual(isMain ? undefined : peer);
      if (peer?.kind !== 'direct') expect(parts?.channel).toBe(inbound.channel.toLowerCase());
    }),
    { numRuns: 1000 },
  );
});

test('no two ids become one part, however long', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.string({ unit: 'binary', maxLength: 400 }), (one, other) => {
      expect(encodePart(one) === encodePart(other)).toBe(one === other);
      if (!encodePart(one).includes('%~')) expect(decodePart(encodePart(one))).toBe(one);
    }),
  );
  const long = 'x'.repeat(5000);
  expect(encodePart(long)).not.toBe(encodePart(`${long}y`));
  expect(encodePart(long).length).toBeLessThan(200);
});

import { expect, test } from 'vitest';
import type { Arrival } from '../../../plugins/inbox/contract.ts';
import { commandOf } from '../../../plugins/inbox/door.ts';

const arrival = (content: Arrival['content'], facts: Partial<Arrival> = {}): Arrival => ({
  sessionKey: 's',
  agentId: 'main',
  route: 'test:x',
  content,
  provenance: { kind: 'external_user' },
  subject: { sender: 'owner' },
  ...facts,
});

test.each<[Arrival['content'], unknown]>([
  ['/stop', { name: 'stop' }],
  [' /STOP\n', { name: 'stop' }],
  [[{ type: 'text', text: '/new' }], { name: 'new' }],
  ['/reset', { name: 'reset' }],
  ['/queue', { name: 'queue', mode: undefined }],
  ['/queue  Steer', { name: 'queue', mode: 'steer' }],
  ['/queue default', { name: 'queue', mode: 'default' }],
  ['/queue faster', { name: 'queue', mode: undefined, unknown: 'faster' }],
  ['stop', undefined],
  ['/stop it', { name: 'stop' }],
  ['/stop now!', { name: 'stop' }],
  ['/stop.', { name: 'stop' }],
  ['/stop!', { name: 'stop' }],
  ['/New.', { name: 'new' }],
  ['/stop, please', { name: 'stop' }],
  ['/stop! now', { name: 'stop' }],
  ['/stop?', { name: 'stop' }],
  ['/stop。', { name: 'stop' }],
  ['/stop-loss', { name: 'help', unknown: '/stop-loss' }],
  ['/stop-all', undefined],
  ['/stop.sh', undefined],
  ['/new!', { name: 'new' }],
  ['/new?', { name: 'help' }],
  ['/reset ?', { name: 'help' }],
  ['/reset now', { name: 'help' }],
  ['/new ideas are what we need', undefined],
  ['/queue?', { name: 'queue', mode: undefined }],
  ['/stop the build when it is done', undefined],
  ['/stop /etc/passwd', undefined],
  ['please /stop', undefined],
  ['/queue steer cap:2', { name: 'queue', mode: undefined, unknown: 'steer cap:2' }],
  ['/queuesteer', undefined],
  ['/newer', undefined],
  [
    [
      { type: 'text', text: '/stop' },
      { type: 'image', data: 'aa', mimeType: 'image/png' },
    ],
    undefined,
  ],
  ['', undefined],
  ['/help', { name: 'help' }],
  ['/qeue', { name: 'help', unknown: '/qeue' }],
  ['/Foo bar', { name: 'help', unknown: '/foo' }],
  ['/foo bar baz', undefined],
  ['/etc/passwd', undefined],
  ['/home is full, why?', undefined],
  ['/theirs', undefined],
])('%j is the command %j', (content, command) =>
  expect(commandOf(arrival(content), new Set(['/theirs', '/queuesteer', '/newer', '/stop', '/stop-all']))).toEqual(command),
);

const many = 1_000_000;
test.each([
  `a log:${' '.repeat(many)}end`,
  `/stop${' '.repeat(many)}it now`,
  `/stop${'-'.repeat(many)}/`,
  `/stop${'.'.repeat(many)}x`,
  `/stop, ${'!'.repeat(many)}x`,
  `/a${'b'.repeat(many)}`,
  `/queue ${' .'.repeat(many)}x`,
])('a message of a megabyte is read at once, whatever it repeats (%#)', (text) => {
  const began = process.cpuUsage();
  expect(commandOf(arrival(text), new Set(['/theirs']))).toBeUndefined();
  expect(process.cpuUsage(began).user).toBeLessThan(1_000_000); // microseconds; it took minutes
});

test.each<[string, Partial<Arrival>, readonly string[]]>([
  ['the owner', { subject: { sender: 'owner', session: 'group', group: 'g' } }, ['/stop', '/new', '/queue']],
  ['a known sender in a direct chat', { subject: { sender: 'known', session: 'direct' } }, ['/stop', '/new', '/queue']],
  ['a known sender in a group', { subject: { sender: 'known', session: 'group', group: 'g' } }, ['/stop']],
  ['a stranger', { subject: { sender: 'unknown', session: 'direct' } }, []],
  ['nobody in particular', { subject: {} }, []],
  ['another session', { provenance: { kind: 'inter_session' } }, []],
  ['the system itself', { provenance: { kind: 'internal_system' } }, []],
  ['a stateless client', { ephemeral: true }, []],
])('what %s may say', (_, facts, allowed) =>
  expect(['/stop', '/new', '/queue'].filter((text) => commandOf(arrival(text, facts)))).toEqual(allowed),
);

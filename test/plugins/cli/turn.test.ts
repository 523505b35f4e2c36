import { expect, test } from 'vitest';
import { openLink } from '../../../plugins/cli/link.ts';
import { takeTurn } from '../../../plugins/cli/turn.ts';
import { folder } from '../../host/folder.ts';
import { fakeGateway, hostOf } from './fake-gateway.ts';

const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2 };
const live = (type: string, data: object, runId = 'r1') => ({ type, sessionKey: 'agent:main:main', runId, data });
const agents = { 'agents.list': () => ({ agents: [{ id: 'main' }], defaultId: 'main' }) };

test('a turn is told from its events, and those of other turns in the same session are not', async () => {
  await using home = await folder();
  await using gateway = await fakeGateway({
    ...agents,
    'chat.send': (_, send) => {
      send(live('message_update', { messageId: 'm0', kind: 'text', index: 0, delta: 'other' }, 'r0'));
      send(live('agent_end', { itemId: 'i0', stopReason: 'stop', usage, payloads: [{ text: 'other' }], ms: 1 }, 'r0'));
      send(live('agent_start', { itemId: 'i1', agentId: 'main', model: 'p/m' }));
      send(live('message_update', { messageId: 'm1', kind: 'text', index: 0, delta: 'mine' }));
      const payloads = [{ text: 'mine' }, { text: 'thought', isReasoning: true }, { text: 'again' }, { text: 'cut', isError: true }];
      setImmediate(() => send(live('agent_end', { itemId: 'i1', stopReason: 'stop', usage, payloads, ms: 7 })));
      return { itemId: 'i1' };
    },
  });
  const link = openLink(hostOf(home.path, [gateway.url]));
  const seen: string[] = [];
  const told = await takeTurn(link, { text: 'x' }, { message_update: ({ delta }) => seen.push(delta) });
  expect(told).toEqual({
    text: 'mine\n\nagain',
    sessionKey: 'agent:main:main',
    agentId: 'main',
    itemId: 'i1',
    runId: 'r1',
    model: 'p/m',
    stopReason: 'stop',
    usage,
    ms: 7,
    notes: ['cut'],
  });
  expect(seen).toEqual(['mine']);
  await link.leave();
});

test('a gateway that leaves in mid-turn: the same item is asked for at the next one, which has answered it by then', async () => {
  await using home = await folder();
  const keys: unknown[] = [];
  await using first = await fakeGateway({
    ...agents,
    'chat.send': ({ idempotencyKey }, _, socket) => {
      keys.push(idempotencyKey);
      socket.close(1001, 'the gateway stops');
      return { itemId: 'i1' };
    },
  });
  await using second = await fakeGateway({
    ...agents,
    'chat.send': ({ idempotencyKey }) => {
      keys.push(idempotencyKey);
      return { itemId: 'i1' };
    },
    'chat.result': ({ itemId }) => ({
      state: 'done',
      delivery: { itemId, payloads: [{ text: 'kept' }], meta: { stopReason: 'stop', usage } },
    }),
  });
  const link = openLink(hostOf(home.path, [first.url, second.url]));
  expect(await takeTurn(link, { text: 'x' })).toMatchObject({ text: 'kept', itemId: 'i1', usage, stopReason: 'stop' });
  expect(keys).toHaveLength(2);
  expect(keys[0]).toBe(keys[1]);
  await link.leave();
});

test('stopping a turn asks the gateway to, and the end of the turn tells', async () => {
  await using home = await folder();
  const stop = new AbortController();
  await using gateway = await fakeGateway({
    ...agents,
    'chat.send': (_, send) => {
      send(live('agent_start', { itemId: 'i1', agentId: 'main', model: 'p/m' }));
      return { itemId: 'i1' };
    },
    'chat.stop': ({ sessionKey }, send) => {
      send(live('agent_end', { itemId: 'i1', stopReason: 'aborted', usage, payloads: [], ms: 1 }));
      return { stopped: sessionKey === 'agent:main:main' };
    },
  });
  const link = openLink(hostOf(home.path, [gateway.url]));
  const told = takeTurn(link, { text: 'x' }, { agent_start: () => stop.abort() }, stop.signal);
  expect(await told).toMatchObject({ stopReason: 'aborted', text: '' });
  await link.leave();
});

test.each([
  ['sent', 'events.watch', 'CLI_STOPPED', []],
  ['begun', 'chat.send', 'CLI_LEFT', ['i1']],
])('a turn that is stopped before it is %s stops nobody else’s', async (_, method, code, sent) => {
  await using home = await folder();
  const stop = new AbortController();
  const called: unknown[] = [];
  const methods = {
    ...agents,
    'events.watch': () => ({ cursor: '', missed: false }),
    'chat.send': () => (called.push('i1'), { itemId: 'i1' }),
    'chat.stop': () => called.push('stop'),
  };
  const stopAt = () => (setImmediate(() => stop.abort()), methods[method as keyof typeof methods]());
  await using gateway = await fakeGateway({ ...methods, [method]: stopAt });
  const link = openLink(hostOf(home.path, [gateway.url]));
  await expect(takeTurn(link, { text: 'x' }, {}, stop.signal)).rejects.toMatchObject({ code });
  expect(called).toEqual(sent);
  await link.leave();
});

test('an agent that does not own the session is refused before anything is sent', async () => {
  await using home = await folder();
  await using gateway = await fakeGateway({});
  const link = openLink(hostOf(home.path, [gateway.url]));
  const turn = takeTurn(link, { text: 'x', agent: 'b', session: 'agent:a:main' });
  await expect(turn).rejects.toMatchObject({ code: 'CLI_SESSION' });
  await link.leave();
});

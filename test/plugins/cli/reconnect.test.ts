import { expect, test } from 'vitest';
import { openLink } from '../../../plugins/cli/link.ts';
import { takeTurn } from '../../../plugins/cli/turn.ts';
import { turnView } from '../../../plugins/cli/view.ts';
import { folder } from '../../host/folder.ts';
import { fakeGateway, hostOf } from './fake-gateway.ts';

const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2 };
let count = 0;
const live = (boot: string, type: string, data: object, runId = 'r1') => ({
  cursor: `${boot}.${++count}`,
  type,
  sessionKey: 'agent:main:main',
  runId,
  data,
});
const update = (boot: string, messageId: string, delta: string, runId?: string) =>
  live(boot, 'message_update', { messageId, kind: 'text', index: 0, delta }, runId);
const end = (boot: string, text: string, stopReason = 'stop', runId?: string) =>
  live(boot, 'agent_end', { itemId: 'i1', stopReason, usage, payloads: text ? [{ text }] : [], ms: 1 }, runId);
const agents = { 'agents.list': () => ({ agents: [{ id: 'main' }], defaultId: 'main' }) };

/** A gateway that is gone after the first words of the turn. */
const leaving = () =>
  fakeGateway({
    ...agents,
    'events.watch': () => ({ cursor: 'one.0', missed: false }),
    'chat.send': (_params, send, socket) => {
      send(live('one', 'agent_start', { itemId: 'i1', agentId: 'main', model: 'p/m' }));
      send(update('one', 'm1', 'first '));
      setImmediate(() => socket.close(1001, 'the gateway stops'));
      return { itemId: 'i1' };
    },
  });

async function shown(text: string, urls: readonly string[], signal?: AbortSignal) {
  await using home = await folder();
  const link = openLink(hostOf(home.path, [...urls]));
  let out = '';
  const told = await takeTurn(
    link,
    { text },
    turnView((piece) => (out += piece)),
    signal,
  );
  await link.leave();
  return { told, out };
}

test('after a restart in mid-turn the turn that begins again is shown, from its start', async () => {
  await using first = await leaving();
  const watched: unknown[] = [];
  await using second = await fakeGateway({
    ...agents,
    'chat.send': () => ({ itemId: 'i1' }),
    'chat.result': () => ({ state: 'running', cursor: 'two.5.agent:main:main' }),
    'events.watch': ({ after }, send) => {
      watched.push(after);
      if (after !== 'two.5.agent:main:main') {
        send(update('two', 'm2', 'second', 'r2')); // it is replayed below
        return { cursor: 'two.7', missed: true };
      }
      for (const delta of ['first ', 'second ', 'third']) send(update('two', 'm2', delta, 'r2'));
      setImmediate(() => send(end('two', 'first second third', 'stop', 'r2')));
      return { cursor: 'two.9', missed: false };
    },
  });
  const { told, out } = await shown('x', [first.url, second.url]);
  expect(out).toBe('first \nthe connection was lost, and stands again\nfirst second third\n');
  expect(told).toMatchObject({ text: 'first second third', runId: 'r2' });
  expect(watched).toEqual([expect.stringMatching(/^one\./), 'two.5.agent:main:main']);
});

test('a connection that is lost alone is taken up where it broke off: nothing is shown twice', async () => {
  await using first = await leaving();
  await using second = await fakeGateway({
    ...agents,
    'chat.send': () => ({ itemId: 'i1' }),
    'chat.result': () => ({ state: 'running', cursor: 'one.0.agent:main:main' }),
    'events.watch': (_params, send) => {
      send(update('one', 'm1', 'second'));
      setImmediate(() => send(end('one', 'first second')));
      return { cursor: 'one.9', missed: false };
    },
  });
  const { told, out } = await shown('x', [first.url, second.url]);
  expect(out).toBe('first \nthe connection was lost, and stands again\nsecond\n');
  expect(told).toMatchObject({ text: 'first second', runId: 'r1' });
});

test('while a message waits behind another’s turn, a connection that is lost makes that turn no part of it', async () => {
  await using first = await fakeGateway({
    ...agents,
    'events.watch': () => ({ cursor: 'one.0', missed: false }),
    'chat.send': (_params, send, socket) => {
      setImmediate(() => {
        send(update('one', 'm1', 'other ', 'r0'));
        socket.close(1001, 'the gateway stops');
      });
      return { itemId: 'i1' };
    },
  });
  await using second = await fakeGateway({
    ...agents,
    'chat.send': () => ({ itemId: 'i1' }),
    'chat.result': () => ({ state: 'running', cursor: 'one.9.agent:main:main' }),
    'events.watch': (_params, send) => {
      send(update('one', 'm1', 'words', 'r0'));
      send(live('one', 'agent_end', { itemId: 'i0', stopReason: 'stop', usage, payloads: [{ text: 'other words' }], ms: 1 }, 'r0'));
      send(live('one', 'agent_start', { itemId: 'i1', agentId: 'main', model: 'p/m' }, 'r1'));
      send(update('one', 'm2', 'mine', 'r1'));
      setImmediate(() => send(end('one', 'mine')));
      return { cursor: 'one.9', missed: false };
    },
  });
  const { told, out } = await shown('x', [first.url, second.url]);
  expect(out).toBe('the connection was lost, and stands again\nmine\n');
  expect(told).toMatchObject({ text: 'mine', runId: 'r1' });
});

test('what came before the message was known, and was lost with its connection, is asked for again', async () => {
  await using first = await fakeGateway({
    ...agents,
    'events.watch': () => ({ cursor: 'one.0', missed: false }),
    'chat.send': (_params, send, socket) => {
      send(live('one', 'agent_start', { itemId: 'i1', agentId: 'main', model: 'p/m' }));
      send(update('one', 'm1', 'first '));
      socket.close(1001, 'the gateway stops'); // before the answer
      return {};
    },
  });
  await using second = await fakeGateway({
    ...agents,
    'chat.send': () => ({ itemId: 'i1' }),
    'chat.result': () => ({ state: 'running', cursor: 'one.0.agent:main:main' }),
    'events.watch': ({ after }, send) => {
      if (after !== undefined) {
        for (const delta of ['first ', 'second']) send(update('one', 'm1', delta));
        setImmediate(() => send(end('one', 'first second')));
      }
      return { cursor: 'one.9', missed: false };
    },
  });
  const { told, out } = await shown('x', [first.url, second.url]);
  expect(out).toBe('the connection was lost, and stands again\nfirst second\n');
  expect(told).toMatchObject({ text: 'first second', runId: 'r1' });
});

test('a turn that is stopped while its terminal connects again, and before it was ever sent, is not sent', async () => {
  const stop = new AbortController();
  let sent = 0;
  const gateway = (watch: (socket: { close(code: number): void }) => void) =>
    fakeGateway({
      ...agents,
      'events.watch': (_params, _send, socket) => (watch(socket), { cursor: 'one.0', missed: false }),
      'chat.send': () => ({ itemId: `i${++sent}` }),
    });
  await using first = await gateway((socket) => {
    stop.abort();
    socket.close(1001);
  });
  await using second = await gateway(() => {});
  await expect(shown('x', [first.url, second.url], stop.signal)).rejects.toMatchObject({ code: 'CLI_STOPPED' });
  expect(sent).toBe(0);
});

test('an answer that was stored meanwhile is shown', async () => {
  await using first = await leaving();
  await using second = await fakeGateway({
    ...agents,
    'chat.send': () => ({ itemId: 'i1' }),
    'chat.result': () => ({
      state: 'done',
      delivery: { payloads: [{ text: 'kept' }], meta: { stopReason: 'stop', usage, runId: 'r2', durationMs: 5 } },
    }),
  });
  const { told, out } = await shown('x', [first.url, second.url]);
  expect(out).toBe('first \nthe connection was lost, and stands again\nkept\n');
  expect(told).toMatchObject({ text: 'kept', stopReason: 'stop', usage, runId: 'r2', ms: 5 });
});

test('a turn that went on without its terminal can be stopped from it', async () => {
  await using first = await leaving();
  const stop = new AbortController();
  await using second = await fakeGateway({
    ...agents,
    'chat.send': () => ({ itemId: 'i1' }),
    'chat.result': () => ({ state: 'running', cursor: 'two.1.agent:main:main' }),
    'events.watch': ({ after }) => {
      if (String(after).startsWith('two.1')) setImmediate(() => stop.abort());
      return { cursor: 'two.2', missed: true };
    },
    'chat.stop': (_params, send) => {
      send(end('two', '', 'aborted', 'r2'));
      return { stopped: true };
    },
  });
  const { told } = await shown('x', [first.url, second.url], stop.signal);
  expect(told).toMatchObject({ stopReason: 'aborted' });
});

test('where events of a turn are missed, its end among them, the stored answer tells', async () => {
  await using gateway = await fakeGateway({
    ...agents,
    'chat.send': (_params, send) => {
      setImmediate(() => send({ cursor: 'one.9', type: 'missed', data: {} }));
      return { itemId: 'i1' };
    },
    'chat.result': () => ({ state: 'done', delivery: { payloads: [{ text: 'kept' }], meta: { stopReason: 'stop', usage } } }),
  });
  const { told, out } = await shown('x', [gateway.url]);
  expect([told.text, out]).toEqual(['kept', 'kept\n']);
});

test('a text that no gateway takes is refused before it is sent; one that turns out too large is not sent again', async () => {
  await using home = await folder();
  let sent = 0;
  await using gateway = await fakeGateway({
    ...agents,
    'chat.send': (_params, _send, socket) => {
      sent++;
      socket.close(1009);
      return {};
    },
  });
  const link = openLink(hostOf(home.path, [gateway.url]));
  const long = takeTurn(link, { text: 'x'.repeat(1_000_001) });
  await expect(long).rejects.toMatchObject({ code: 'CLI_TOO_LARGE', message: expect.stringContaining('1000001 characters, and 1000000') });
  expect(sent).toBe(0);
  await expect(takeTurn(link, { text: 'x' })).rejects.toMatchObject({ code: 'CLI_TOO_LARGE' });
  expect(sent).toBe(1);
  await link.leave();
});

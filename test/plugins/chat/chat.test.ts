import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { LiveEvent } from '../../../plugins/events/contract.ts';
import chat from '../../../plugins/chat/index.ts';
import events from '../../../plugins/events/index.ts';
import gateway from '../../../plugins/gateway/index.ts';
import routing from '../../../plugins/routing/index.ts';
import { bootTest, entry, plugin } from '../../support/kernel.ts';
import { scriptedTurns } from '../../support/scripted-turns.ts';
import { connect, gatewayOf, type Peer } from '../gateway/wire.ts';

const config = { gateway: { auth: { token: 'right' } } };

async function boot() {
  const turns = scriptedTurns();
  const plugins = (code: string) => [gateway, events, turns.plugin, chat].map((one) => entry(one, one === turns.plugin ? '1' : code));
  const kernel = await bootTest(plugins('1'), config);
  const { url } = await gatewayOf(kernel);
  return {
    turns,
    reload: (code: string) => kernel.apply(plugins(code), config),
    connect: () => connect(url, 'right', { path: '/ws?client=page' }),
    [Symbol.asyncDispose]: () => kernel[Symbol.asyncDispose](),
  };
}

const live = (peer: Peer) => peer.frames.filter(({ event }) => event === 'live').map(({ data }) => data as unknown as LiveEvent);
const ended = (peer: Peer) => peer.frame(({ event, data }) => event === 'live' && data?.type === 'agent_end');
/** The text that a client has put together, message by message. */
const textOf = (all: readonly LiveEvent[]) =>
  all
    .filter(({ type }) => type === 'message_update')
    .map(({ data }) => String(data.delta))
    .join('');

test('a message goes to the inbox with its door’s facts, is answered through events, and its result stays to be asked for', async () => {
  await using p = await boot();
  await using peer = await p.connect();
  await peer.call('events.watch', {});
  p.turns.answer = (turn) => turn.stream('m1', ['Good ', 'day']);
  const sent = await peer.call('chat.send', { text: 'hello', idempotencyKey: 'k1', model: 'p/m' });
  expect(sent.result).toEqual({ itemId: expect.any(String), sessionKey: 'agent:main:main', agentId: 'main' });
  await ended(peer);
  expect(textOf(live(peer))).toBe('Good day');
  expect(p.turns.arrivals).toEqual([
    {
      sessionKey: 'agent:main:main',
      agentId: 'main',
      content: 'hello',
      provenance: { kind: 'external_user', channel: 'webchat' },
      subject: { channel: 'webchat', sender: 'owner', session: 'main' },
      route: 'chat:agent:main:main',
      idempotencyKey: 'chat:k1',
      model: 'p/m',
    },
  ]);
  const { itemId } = sent.result as { itemId: string };
  await turnOfLoop();
  expect(p.turns.settled).toEqual([{ route: 'chat:agent:main:main', result: { kind: 'delivered' } }]);
  expect(await peer.call('chat.result', { itemId })).toMatchObject({ result: { state: 'done', delivery: { itemId } } });
  expect(await peer.call('chat.result', { itemId: 'nothing' })).toMatchObject({ result: { state: 'unknown' } });
  const again = await peer.call('chat.send', { text: 'hello', idempotencyKey: 'k1' });
  expect(again.result).toMatchObject({ itemId });
});

test.each([
  [{ text: 'hi', sessionKey: 'work' }, { sessionKey: 'agent:main:work', agentId: 'main' }, 'direct'],
  [{ text: 'hi', agentId: 'helper' }, { sessionKey: 'agent:helper:main', agentId: 'helper' }, 'main'],
  [{ text: 'hi', sessionKey: 'agent:helper:x' }, { sessionKey: 'agent:helper:x', agentId: 'helper' }, 'direct'],
  [{ text: '', images: [{ data: 'iVBORw0KGgo=', mimeType: 'image/png' }] }, { sessionKey: 'agent:main:main', agentId: 'main' }, 'main'],
])('%j is sent to %j', async (params, where, session) => {
  await using p = await boot();
  await using peer = await p.connect();
  expect((await peer.call('chat.send', params)).result).toMatchObject(where);
  expect(p.turns.arrivals[0]).toMatchObject({ ...where, subject: { session } });
});

test.each([
  ['chat.send', {}, 'CHAT_PARAMS'],
  ['chat.send', { text: '  ' }, 'CHAT_PARAMS'],
  ['chat.send', { text: 1 }, 'CHAT_PARAMS'],
  ['chat.send', { text: 'hi', sessionKey: 'a\nb' }, 'CHAT_PARAMS'],
  ['chat.send', { text: 'hi', sessionKey: '' }, 'CHAT_PARAMS'],
  ['chat.send', { text: 'hi', sessionKey: {} }, 'CHAT_PARAMS'],
  ['chat.send', { text: 'hi', agentId: 'main', sessionKey: 'agent:helper:x' }, 'CHAT_PARAMS'],
  ['chat.send', { text: 'hi', agentId: 'helpr' }, 'AGENT_UNKNOWN'],
  ['chat.send', { text: 'hi', sessionKey: 'agent:gone:x' }, 'AGENT_UNKNOWN'],
  ['chat.send', { text: 'hi', images: 'x' }, 'CHAT_PARAMS'],
  ['chat.send', { text: 'hi', images: [{ data: '<svg>', mimeType: 'image/svg+xml' }] }, 'CHAT_PARAMS'],
  ['chat.send', { text: 'hi', images: [{ data: 'iVBORw0KGgo=', mimeType: 'text/html' }] }, 'CHAT_PARAMS'],
  ['chat.result', {}, 'CHAT_PARAMS'],
  ['chat.stop', {}, 'CHAT_PARAMS'],
  ['sessions.list', { limit: -1 }, 'CHAT_PARAMS'],
  ['sessions.history', {}, 'CHAT_PARAMS'],
  ['sessions.reset', { sessionKey: 'nowhere' }, 'SESSION_UNKNOWN'],
  ['sessions.remove', { sessionKey: 'nowhere' }, 'SESSION_UNKNOWN'],
])('%s %j is refused with %s, in words', async (method, params, code) => {
  await using p = await boot();
  await using peer = await p.connect();
  const { ok, error } = await peer.call(method, params);
  expect({ ok, code: error?.code }).toEqual({ ok: false, code });
  expect(error?.message).not.toMatch(/error [0-9a-f]{8}/);
  expect(p.turns.arrivals).toEqual([]);
});

test('a client that lost its socket in mid-stream comes back by its cursor and misses or doubles nothing', async () => {
  await using p = await boot();
  const [half, rest] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  p.turns.answer = async (turn) => {
    turn.emit('message_start', { messageId: 'm1', role: 'assistant' });
    for (let i = 0; i < 200; i++) {
      turn.emit('message_update', { messageId: 'm1', kind: 'text', index: 0, delta: `${i} ` });
      if (i === 100) half.resolve();
      if (i === 100) await rest.promise;
    }
  };
  const first = await p.connect();
  await first.call('events.watch', { sessionKey: 'main' });
  await first.call('chat.send', { text: 'count' });
  await half.promise;
  await first.frame(() => textOf(live(first)).includes('100 '));
  const seen = live(first);
  first.socket.terminate();
  await first.closed;
  rest.resolve();

  await using second = await p.connect();
  const { result } = await second.call('events.watch', { sessionKey: 'main', after: seen.at(-1)?.cursor });
  expect(result).toMatchObject({ missed: false });
  await ended(second);
  expect(textOf([...seen, ...live(second)])).toBe(Array.from({ length: 200 }, (_, i) => `${i} `).join(''));
});

test('SPEC U245: a client that does not read for a while gets the newest of each partial and everything else, in order', async () => {
  await using p = await boot();
  const [paused, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  p.turns.answer = async (turn) => {
    await paused.promise;
    for (let i = 0; i < 200; i++) {
      turn.emit('tool_execution_update', { callId: 'c', partial: `${i} `.repeat(30_000) });
      turn.emit('step', { i });
      if (i % 20 === 0) await turnOfLoop();
    }
    resumed.resolve();
  };
  await using peer = await p.connect();
  await peer.call('events.watch', { sessionKey: 'main' });
  await peer.call('chat.send', { text: 'go' });
  peer.socket.pause();
  paused.resolve();
  await resumed.promise;
  peer.socket.resume();
  await ended(peer);
  const steps = live(peer).filter(({ type }) => type === 'step');
  const updates = live(peer).filter(({ type }) => type === 'tool_execution_update');
  expect(steps.map(({ data }) => data.i)).toEqual(Array.from({ length: 200 }, (_, i) => i));
  expect(updates.length).toBeLessThan(150);
  expect(String(updates.at(-1)?.data.partial)).toMatch(/^199 /);
});

test('a page that is opened in mid-stream reads the history and replays the growing message from its beginning', async () => {
  await using p = await boot();
  const [half, rest] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  p.turns.answer = async (turn) => {
    await turn.stream('m1', ['before']);
    turn.emit('message_start', { messageId: 'm2', role: 'assistant' });
    for (const delta of ['so ', 'far']) turn.emit('message_update', { messageId: 'm2', kind: 'text', index: 0, delta });
    half.resolve();
    await rest.promise;
  };
  await using peer = await p.connect();
  const sent = await peer.call('chat.send', { text: 'tell' });
  await half.promise;
  const { result } = await peer.call('sessions.history', { sessionKey: 'main' });
  const { entries, cursor, active, session } = result as { entries: { id: string }[]; cursor: string; active: object[]; session: object };
  const { itemId } = sent.result as { itemId: string };
  expect(entries.map(({ id }) => id)).toEqual([`u-${itemId}`, 'm1']);
  expect({ active, session }).toMatchObject({ active: [{ itemId, state: 'running' }], session: { key: 'agent:main:main' } });
  await peer.call('events.watch', { after: cursor });
  expect(live(peer).map(({ type, data }) => [type, data.messageId, data.delta])).toEqual([
    ['message_start', 'm2', undefined],
    ['message_update', 'm2', 'so far'],
  ]);
  rest.resolve();
  await ended(peer);
});

test('SPEC 14.4: a reload of gateway, events and chat keeps the socket and what it watches, in mid-stream', async () => {
  await using p = await boot();
  const [half, rest] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  p.turns.answer = async (turn) => {
    turn.emit('message_update', { messageId: 'm1', kind: 'text', index: 0, delta: 'before ' });
    half.resolve();
    await rest.promise;
    turn.emit('message_update', { messageId: 'm1', kind: 'text', index: 0, delta: 'after' });
  };
  await using peer = await p.connect();
  await peer.call('events.watch', { sessionKey: 'main' });
  await peer.call('chat.send', { text: 'go' });
  await half.promise;
  await p.reload('2');
  rest.resolve();
  await ended(peer);
  expect(textOf(live(peer))).toBe('before after');
  expect(live(peer).map(({ type }) => type)).toContain('generation_swapped');
  expect(await peer.call('chat.send', { text: 'again' })).toMatchObject({ ok: true });
  expect(await peer.call('events.stop')).toMatchObject({ result: { stopped: true } });
  expect(await peer.call('events.stop')).toMatchObject({ result: { stopped: false } });
});

test('stop ends the running turn; reset and remove end it too and change the session', async () => {
  await using p = await boot();
  const stopped: string[] = [];
  p.turns.answer = async (turn) => {
    await new Promise((resolve) => turn.signal.addEventListener('abort', resolve, { once: true }));
    stopped.push(turn.itemId);
  };
  await using peer = await p.connect();
  await peer.call('events.watch');
  expect(await peer.call('chat.stop', { sessionKey: 'main' })).toMatchObject({ result: { stopped: false } });
  await peer.call('chat.send', { text: 'wait' });
  expect(await peer.call('chat.stop', { sessionKey: 'main' })).toMatchObject({ result: { stopped: true } });
  await peer.call('chat.send', { text: 'wait' });
  const reset = await peer.call('sessions.reset', { sessionKey: 'main' });
  const changed = await peer.frame(({ data }) => data?.type === 'session_changed');
  expect(changed.data?.data).toEqual(reset.result);
  await peer.call('chat.send', { text: 'wait' });
  expect(await peer.call('sessions.remove', { sessionKey: 'main' })).toMatchObject({ result: { removed: true } });
  expect(await peer.call('sessions.list')).toMatchObject({ result: { sessions: [] } });
  expect(stopped).toHaveLength(3);
});

test('a session that is not there yet has an empty history and a cursor to watch from', async () => {
  await using p = await boot();
  await using peer = await p.connect();
  const { result } = await peer.call('sessions.history', { sessionKey: 'new' });
  expect(result).toEqual({ entries: [], active: [], cursor: expect.any(String) });
  const { cursor } = result as { cursor: string };
  await peer.call('chat.send', { text: 'first', sessionKey: 'new' });
  expect(await peer.call('events.watch', { after: cursor })).toMatchObject({ result: { missed: false } });
  expect(live(peer).map(({ type }) => type)).toContain('agent_start');
});

test('agents are listed for a picker', async () => {
  await using p = await boot();
  await using peer = await p.connect();
  expect((await peer.call('agents.list')).result).toEqual({ agents: [{ id: 'main' }, { id: 'helper' }], defaultId: 'main' });
});

test('a client that names no agent has the one that bindings give its channel, in its list, its history and its messages', async () => {
  const turns = scriptedTurns(['main', 'desk']);
  const bindings = [{ agentId: 'desk', match: { channel: 'terminal' } }];
  const listed = plugin('listed', () => {}, { config: { at: 'agents', schema: {} } });
  const agents = { list: [{ id: 'main' }, { id: 'desk' }] };
  await using kernel = await bootTest([gateway, events, turns.plugin, listed, routing, chat], { ...config, agents, bindings });
  const { url } = await gatewayOf(kernel);
  await using page = await connect(url, 'right', { path: '/ws?client=page' });
  await using terminal = await connect(url, 'right', { path: '/ws?client=terminal' });
  expect(await page.call('agents.list', {})).toMatchObject({ result: { defaultId: 'main' } });
  expect(await terminal.call('agents.list', {})).toMatchObject({ result: { defaultId: 'desk' } });
  expect((await page.call('chat.send', { text: 'a' })).result).toMatchObject({ sessionKey: 'agent:main:main' });
  expect((await terminal.call('chat.send', { text: 'b' })).result).toMatchObject({ sessionKey: 'agent:desk:main' });
  expect((await terminal.call('chat.send', { text: 'c', agentId: 'main' })).result).toMatchObject({ sessionKey: 'agent:main:main' });
  expect((await terminal.call('sessions.reset', { sessionKey: 'main' })).result).toMatchObject({ session: { key: 'agent:desk:main' } });
});

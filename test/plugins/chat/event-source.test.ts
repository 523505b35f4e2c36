import { expect, test } from 'vitest';
import { text } from '../../../kernel/index.ts';
import chat from '../../../plugins/chat/index.ts';
import events from '../../../plugins/events/index.ts';
import { Events, type LiveEvent } from '../../../plugins/events/contract.ts';
import gateway from '../../../plugins/gateway/index.ts';
import { allowAll, bundledPlugins, fakeChannel, fakeModel, testKernel } from '../../../plugins/testing/kit.ts';
import { bootTest, entry } from '../../support/kernel.ts';
import { scriptedTurns } from '../../support/scripted-turns.ts';
import { definePlugin, RegisterTools } from '../../../kernel/index.ts';
import { ask, bearer, connect, gatewayOf } from '../gateway/wire.ts';
import { calling, tool } from '../runtime-embedded/product.ts';

const config = { gateway: { auth: { token: 'right' } } };

/** Server-sent events as an EventSource reads them. */
async function* eventsOf(response: Response): AsyncGenerator<{ readonly id: string | undefined; readonly event: LiveEvent }> {
  let rest = '';
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    const frames = (rest + piece).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const lines = frame.split('\n');
      const data = lines.find((line) => line.startsWith('data: '))?.slice(6);
      if (data) yield { id: lines.find((line) => line.startsWith('id: '))?.slice(4), event: JSON.parse(data) as LiveEvent };
    }
  }
}

async function boot() {
  const turns = scriptedTurns();
  const plugins = (code: string) =>
    [gateway, events, turns.plugin, chat].map((plugin) => entry(plugin, plugin === turns.plugin ? '1' : code));
  const kernel = await bootTest(plugins('1'), config);
  const { url } = await gatewayOf(kernel);
  return {
    url,
    publish: (type: string, sessionKey: string, data: Record<string, unknown> = {}) =>
      kernel.kernel.run((run) => run.get(Events).publish({ type, sessionKey, data })),
    watch: (query = '', headers: Record<string, string> = {}, signal?: AbortSignal) =>
      fetch(`${url}/v1/events${query}`, { headers: { ...bearer('right'), ...headers }, ...(signal && { signal }) }),
    reload: () => kernel.apply(plugins('2'), config),
    [Symbol.asyncDispose]: () => kernel[Symbol.asyncDispose](),
  };
}

test('events of a session come as server-sent ones, with their cursor as id; from one on, the rest is replayed', async () => {
  await using p = await boot();
  const stop = new AbortController();
  const first = eventsOf(await p.watch('?session=main', {}, stop.signal));
  await p.publish('one', 'agent:main:main', { text: 'two\nlines' });
  await p.publish('of another', 'agent:main:other');
  await p.publish('two', 'agent:main:main');
  const [one, two] = [(await first.next()).value!, (await first.next()).value!];
  expect([one.event.type, two.event.type]).toEqual(['one', 'two']);
  expect(one.event.data).toEqual({ text: 'two\nlines' });
  expect(one.id).toBe(one.event.cursor);
  stop.abort();
  for (const [query, headers] of [
    [`?session=main&after=${one.id}`, {}],
    ['?session=main', { 'last-event-id': one.id! }],
  ] as const) {
    const end = new AbortController();
    expect((await eventsOf(await p.watch(query, headers, end.signal)).next()).value!.event.type).toBe('two');
    end.abort();
  }
});

test('who comes back from another process is told that something is missing; a bad key is refused; so is who has no token', async () => {
  await using p = await boot();
  const stop = new AbortController();
  expect((await eventsOf(await p.watch('', { 'last-event-id': 'dead.5' }, stop.signal)).next()).value!.event.type).toBe('missed');
  stop.abort();
  expect((await p.watch('?session=%0a')).status).toBe(400);
  expect((await ask(`${p.url}/v1/events`)).status).toBe(401);
});

test('a reload ends the stream after telling of it, so that who may watch is asked again', async () => {
  await using p = await boot();
  const stream = eventsOf(await p.watch());
  await p.reload();
  const types: string[] = [];
  for await (const { event } of stream) types.push(event.type);
  expect(types).toEqual(['generation_swapped']);
});

test('SPEC 6.1: a turn tells the same events in the same order over WebSocket and as server-sent ones', async () => {
  const channel = fakeChannel();
  const model = fakeModel([calling('look'), 'seen']);
  const look = tool('look', (_, call) => (call.update(text('half')), text('whole')));
  const tools = definePlugin({ name: 'look', description: '', setup: (ctx) => ctx.tap(RegisterTools, (known) => [...known, look]) });
  const doors = ['cli', 'openai-http', 'web', 'watch', 'model-demo', 'models-openai', 'models-pi', 'plugins-admin', 'policy'];
  await using t = await testKernel({
    plugins: [...(await bundledPlugins(doors)), channel, model, tools, allowAll],
    config: { ...config, agents: { defaults: { model: 'fake/fake' } } },
  });
  const { url } = await gatewayOf(t);
  await using peer = await connect(url, 'right');
  await peer.call('events.watch', { sessionKey: 'main' });
  const stream = eventsOf(await fetch(`${url}/v1/events?session=main`, { headers: bearer('right') }));
  await channel.ask('look');
  await peer.frame(({ event, data }) => event === 'live' && data?.['type'] === 'agent_end');
  const sent: LiveEvent[] = [];
  for await (const { event } of stream) {
    sent.push(event);
    if (event.type === 'agent_end') break;
  }
  const live = peer.frames.filter(({ event }) => event === 'live').map(({ data }) => data as unknown as LiveEvent);
  expect(sent).toEqual(live.slice(0, sent.length));
  const types = sent.filter(({ runId }) => runId).map(({ type }) => type);
  const reply = ['message_start', 'message_update', 'message_end'];
  const round = ['tool_execution_start', 'tool_execution_update', 'tool_execution_end', 'message_end'];
  expect(types).toEqual([
    'agent_start',
    'message_end', // the user's
    ...reply,
    ...round,
    ...reply,
    'agent_end',
  ]);
});

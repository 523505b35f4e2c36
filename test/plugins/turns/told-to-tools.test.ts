import { expect, test } from 'vitest';
import { type Run, text, type ToolCall } from '../../../kernel/index.ts';
import { Agents } from '../../../plugins/agents/contract.ts';
import { Sandbox } from '../../../plugins/sandbox/contract.ts';
import { Sessions } from '../../../plugins/sessions/contract.ts';
import { Turn } from '../../../plugins/turns/contract.ts';
import { triggerOf } from '../../../plugins/turns/trigger.ts';
import { noBubblewrap } from '../sandbox/bench.ts';
import { calling, key, product, tool } from '../runtime-embedded/product.ts';

/** Keeps what each call was told while it ran, for then its run is open. */
async function scene(config: object = {}, details?: unknown) {
  const calls: { readonly turn: Turn; readonly run: Run; readonly call: ToolCall; readonly world: unknown }[] = [];
  const look = tool('look', (_, call) => {
    calls.push({ turn: call.run.get(Turn), run: call.run, call, world: call.run.find(Sandbox)?.worldOf(call.run) });
    return { ...text('seen'), details };
  });
  const script = (_: unknown, number: number) => (number % 2 === 0 ? calling('look') : 'done');
  const p = await product(script, { tools: [look], config });
  return { p, calls, [Symbol.asyncDispose]: () => p[Symbol.asyncDispose]() };
}

test('SPEC 2.4: a tool is told agent, session, run, trigger, workspace, model, abort signal', async () => {
  await using s = await scene();
  const answer = await s.p.channel.ask('go');
  const [{ turn, run, call, world }] = s.calls as [(typeof s.calls)[0]];
  const facts = await s.p.t.kernel.run(async (asked) => ({
    sessionId: (await asked.get(Sessions).find(key))?.sessionId,
    workspace: asked.get(Agents).workspace('main'),
  }));
  expect(turn).toMatchObject({
    ...facts,
    agentId: 'main',
    sessionKey: key,
    runId: answer.meta['runId'],
    itemId: answer.itemId,
    trigger: 'user',
  });
  expect(turn.model).toMatchObject({ provider: 'fake', id: 'fake', contextWindow: 200_000 });
  expect(turn.spawnWorkspace).toBeUndefined();
  expect([run.id, run.subject.sandboxed, world]).toEqual([turn.runId, false, undefined]);
  expect(run.subject).toMatchObject({ agent: 'main', channel: 'fake', sender: 'owner', provider: 'fake', model: 'fake', depth: 0 });
  expect([call.name, call.signal.aborted]).toEqual(['look', false]);
});

test('SPEC 2.4: the signal that a tool is told aborts when the turn is stopped', async () => {
  const began = Promise.withResolvers<ToolCall>();
  const wait = tool('wait', async (_, call) => {
    began.resolve(call);
    await new Promise((done) => call.signal.addEventListener('abort', done, { once: true }));
    return text('stopped');
  });
  await using p = await product([calling('wait'), 'never'], { tools: [wait] });
  const asked = p.channel.ask('go');
  const call = await began.promise;
  await p.stop();
  expect((await asked).meta['stopReason']).toBe('aborted');
  expect(call.signal.aborted).toBe(true);
});

test.skipIf(noBubblewrap)(
  'SPEC 2.4: in a sandbox a tool is told its world, and the folder where children work',
  { timeout: 60_000 },
  async () => {
    await using s = await scene({ agents: { defaults: { sandbox: { mode: 'all', workspaceAccess: 'none' } } } });
    await s.p.channel.ask('go');
    const [{ turn, run, world }] = s.calls as [(typeof s.calls)[0]];
    const own = await s.p.t.kernel.run((asked) => asked.get(Agents).workspace('main'));
    expect(run.subject.sandboxed).toBe(true);
    expect(turn.workspace).not.toBe(own);
    expect(turn.spawnWorkspace).toBe(own);
    expect(world).toMatchObject({ workspace: turn.workspace, settings: { mode: 'all' } });
  },
);

type Came = Parameters<typeof triggerOf>[0];
const user = { kind: 'external_user' } as const;
const triggers: readonly (readonly [Came, Turn['trigger']])[] = [
  [{ subject: { session: 'main' }, provenance: user }, 'user'],
  [{ subject: { session: 'group' }, provenance: { ...user, tool: 'heartbeat' } }, 'user'],
  [{ subject: { session: 'cron' }, provenance: { kind: 'internal_system' } }, 'cron'],
  [{ subject: { session: 'subagent' }, provenance: { kind: 'inter_session' } }, 'subagent'],
  [{ subject: { session: 'main' }, provenance: { kind: 'internal_system', tool: 'heartbeat' } }, 'heartbeat'],
  [{ subject: { session: 'main' }, provenance: { kind: 'inter_session', tool: 'sessions_send' } }, 'system'],
];
test.each(triggers)('SPEC 2.4: the trigger follows from what the door said: %j is %s', (came, trigger) =>
  expect(triggerOf(came)).toBe(trigger),
);

test('SPEC 2.4: media of results go out with the reply, once, and what is no address does not', async () => {
  const mediaUrls = ['/tmp/a.png', 'https://x.example/b.mp3', '/tmp/a.png', '', 7, null, 'x'.repeat(5000)];
  await using s = await scene({}, { mediaUrls });
  const { payloads } = await s.p.channel.ask('go');
  expect(payloads).toEqual([{ text: 'done' }, { mediaUrls: ['/tmp/a.png', 'https://x.example/b.mp3'] }]);
  expect((await s.p.channel.ask('again')).payloads).toHaveLength(2); // those of this turn, and not of the one before as well
});

test('SPEC 2.4: media that a tool sent to the same place are not sent again, and none of a call that failed', async () => {
  await using s = await scene({}, { mediaUrls: ['a', 'b'], sent: { target: key, mediaUrls: ['a'] } });
  expect((await s.p.channel.ask('go')).payloads).toEqual([{ text: 'done' }, { mediaUrls: ['b'] }]);
  const failing = tool('fail', () => ({ ...text('no'), isError: true, details: { mediaUrls: ['a'] } }));
  await using p = await product([calling('fail'), 'done'], { tools: [failing] });
  expect((await p.channel.ask('go')).payloads).toEqual([{ text: 'done' }]);
});

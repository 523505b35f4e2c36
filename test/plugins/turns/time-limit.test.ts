import { expect, test } from 'vitest';
import { Approver, DecideTool, definePlugin, SelectRuntime, text } from '../../../kernel/index.ts';
import { UsualFields } from '../../../plugins/agents/contract.ts';
import { Inbox } from '../../../plugins/inbox/contract.ts';
import { SendDelivery } from '../../../plugins/outbox/contract.ts';
import { type Ended, Turn, type TurnRuntime, TurnStopped } from '../../../plugins/turns/contract.ts';
import { noUsage } from '../../../plugins/turns/outcomes.ts';
import { stillClock } from '../../support/still-clock.ts';
import { assistant } from '../../support/scripted-turns.ts';
import { calling, key, product, tool } from '../runtime-embedded/product.ts';

const clock = stillClock();
const untilStopped = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
const never = () => new Promise<never>(() => {});
const endedOf = (meta: Readonly<Record<string, unknown>>) =>
  ((meta['ended'] ?? []) as readonly Ended[]).map(({ kind, name, how, why }) => `${how} ${kind} ${name} (${why})`).toSorted();
const limit = (timeoutSeconds: number, more: object = {}) => ({ agents: { defaults: { timeoutSeconds, ...more } } });

/** Something that works beside a turn, such as a child. */
const children = definePlugin({
  name: 'children',
  description: 'stands in for sub-agents',
  setup: (ctx) =>
    ctx.tap(TurnStopped, (ended, run) => [
      ...ended,
      { kind: 'child', id: 'c1', name: run.get(Turn).sessionKey, how: 'ended', why: 'deadline' } as const,
    ]),
});

test('SPEC 6.4: a turn that has had its time ends with all that works for it, and says how to give it more', async () => {
  const begun = Promise.withResolvers<void>();
  const hanging = tool('hang', (_, { signal }) => (begun.resolve(), untilStopped(signal)));
  await using p = await product([{ text: 'Let me look.', ...calling('hang') }], {
    tools: [hanging],
    plugins: [children],
    config: limit(1.5),
  });
  const asked = p.channel.ask('go');
  await begun.promise;
  await clock.passes(1.5);
  const answer = await asked;
  expect(answer.meta).toMatchObject({ stopReason: 'error', error: { code: 'TURN_TIMEOUT' } });
  expect(answer.payloads).toEqual([
    { text: 'Let me look.' },
    { text: expect.stringMatching(/^the turn worked for 1\.5 s.*raise agents\.defaults\.timeoutSeconds.*\[TURN_TIMEOUT, /), isError: true },
  ]);
  expect(endedOf(answer.meta)).toEqual([`ended child ${key} (deadline)`, 'ended tool hang (deadline)']);
  const [result] = (await p.messages()).filter(({ role }) => role === 'toolResult');
  expect(result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/^The turn had no time left while this call ran/) }],
  });
});

test('U129: what waited behind a turn that ran out of time is answered next, and the transcript is valid', async () => {
  const begun = Promise.withResolvers<void>();
  const script = (_: unknown, number: number) => (number === 0 ? (begun.resolve(), never()) : 'the next answer');
  await using p = await product(script, { config: limit(0.5) });
  const [late, next] = [p.channel.ask('one'), p.channel.ask('two')];
  await begun.promise;
  await clock.passes(0.5);
  await clock.passes(1); // for which the model is given to end
  expect((await late).meta).toMatchObject({ error: { code: 'TURN_TIMEOUT' } });
  expect((await next).text).toBe('the next answer');
  expect((await p.messages()).map(({ role }) => role)).toEqual(['user', 'user', 'assistant']);
});

test('what a model had said by then is kept and shown', async () => {
  const begun = Promise.withResolvers<void>();
  await using p = await product([], {
    adapter: (_, on) => {
      on({ type: 'text', index: 0, delta: 'half a sentence' });
      begun.resolve();
      return never();
    },
    config: limit(0.5),
  });
  const asked = p.channel.ask('go');
  await begun.promise;
  await clock.passes(0.5);
  await clock.passes(1);
  const answer = await asked;
  expect(answer.payloads[0]).toEqual({ text: 'half a sentence' });
  expect(endedOf(answer.meta)).toEqual([expect.stringMatching(/model own\/own \(deadline\)/)]);
  expect((await p.history()).at(-1)).toMatchObject({ role: 'assistant', content: [{ type: 'text', text: 'half a sentence' }] });
});

test('an agent’s own limit goes before that of the defaults, and 0 is none', async () => {
  const [begun, ends] = [[1, 2].map(() => Promise.withResolvers<void>()), Promise.withResolvers<void>()];
  let calls = 0;
  const slow = tool('slow', async () => (begun[calls++]?.resolve(), await ends.promise, text('done')));
  const config = (own: number, usual: number) => ({
    agents: { list: [{ id: 'main', timeoutSeconds: own }], defaults: { model: 'fake/fake', timeoutSeconds: usual } },
  });
  await using bound = await product([calling('slow'), 'never said'], { tools: [slow], config: config(0.05, 0) });
  const late = bound.channel.ask('go');
  await begun[0]?.promise;
  await clock.passes(0.05);
  await using free = await product([calling('slow'), 'in the end'], { tools: [slow], config: config(0, 0.05) });
  const patient = free.channel.ask('go');
  await begun[1]?.promise;
  await clock.passes(500);
  ends.resolve();
  expect((await late).payloads.at(-1)?.text).toContain('raise agents.list[0].timeoutSeconds');
  expect((await patient).text).toBe('in the end');
});

test('the time that a person takes to approve counts neither for the turn nor for the call', async () => {
  const asked: string[] = [];
  const person = definePlugin({
    name: 'person',
    description: 'needs longer than any deadline here to say yes',
    provides: [Approver],
    setup(ctx) {
      ctx.tap(DecideTool, ({ tool: { name } }) => (name === 'risky' ? { kind: 'ask', why: 'it is risky' } : { kind: 'allow' }));
      ctx.provide(Approver, {
        ask: async (request, why, run) => {
          await run.get(Inbox).aside(run, () => clock.passes(3600));
          asked.push(`${request.tool.name}: ${why}`);
          return { allowed: true, why: 'yes' };
        },
      });
    },
  });
  const risky = tool('risky', () => text('done'));
  await using p = await product([calling('risky'), 'thank you'], {
    tools: [risky],
    off: ['approvals'],
    plugins: [person],
    loop: { toolTimeoutSeconds: 0.2 },
    config: limit(0.3),
  });
  const answer = await p.channel.ask('go');
  expect(asked).toEqual(['risky: it is risky']);
  expect(answer).toMatchObject({ text: 'thank you', meta: { stopReason: 'stop' } });
  expect(endedOf(answer.meta)).toEqual([]);
});

test('a stop that comes first stays a stop', async () => {
  const begun = Promise.withResolvers<void>();
  const hanging = tool('hang', (_, { signal }) => (begun.resolve(), untilStopped(signal)));
  await using p = await product([calling('hang')], { tools: [hanging], config: limit(30) });
  const asked = p.channel.ask('go');
  await begun.promise;
  await p.stop();
  expect((await asked).meta).toMatchObject({ stopReason: 'aborted', ended: [{ kind: 'tool', why: 'stop' }] });
});

test('U126: a runtime that listens to nothing is left behind, and writes nothing into the turn that follows', async () => {
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const late = Promise.withResolvers<unknown>();
  const deaf: TurnRuntime = {
    id: 'deaf',
    async turn({ append }) {
      begun.resolve();
      await gate.promise;
      await append(assistant('too late')).catch(late.resolve);
      return { payloads: [{ text: 'too late' }], usage: noUsage, stopReason: 'stop' };
    },
  };
  const wedged = definePlugin({
    name: 'wedged',
    description: 'runs the first turn, and does not come back',
    setup(ctx) {
      let count = 0;
      ctx.tap(SelectRuntime, () => (count++ === 0 ? deaf : undefined));
    },
  });
  await using p = await product(['the next answer'], { plugins: [wedged], config: limit(0.5) });
  const asked = p.channel.ask('one');
  await begun.promise;
  await clock.passes(0.5);
  await clock.passes(4.5);
  const answer = await asked;
  expect(answer.meta).toMatchObject({ error: { code: 'TURN_TIMEOUT' }, ended: [{ kind: 'runtime', how: 'left', why: 'deadline' }] });
  gate.resolve();
  expect(await late.promise).toMatchObject({ code: 'TURN_OVER' });
  expect((await p.channel.ask('two')).text).toBe('the next answer');
  expect((await p.messages()).map(({ role }) => role)).toEqual(['user', 'user', 'assistant']);
});

test('U126: nor does it take in what waits behind its turn: that is answered by the next', async () => {
  const gate = Promise.withResolvers<void>();
  const late = Promise.withResolvers<unknown>();
  const begun = Promise.withResolvers<void>();
  const deaf: TurnRuntime = {
    id: 'deaf',
    async turn({ steered }) {
      begun.resolve();
      await gate.promise;
      await steered().then(late.resolve, late.resolve);
      return { payloads: [], usage: noUsage, stopReason: 'stop' };
    },
  };
  const wedged = definePlugin({
    name: 'wedged',
    description: 'runs the first turn, and wakes while its end is sent',
    setup(ctx) {
      let count = 0;
      ctx.tap(SelectRuntime, () => (count++ === 0 ? deaf : undefined));
      ctx.tap(
        SendDelivery,
        async () => {
          gate.resolve();
          await late.promise;
          return undefined;
        },
        -10,
      );
    },
  });
  await using p = await product(['the next answer'], { plugins: [wedged], config: limit(0.5) });
  const send = (content: string) =>
    p.t.kernel.run((run) =>
      run.get(Inbox).enqueue({
        agentId: 'main',
        content,
        sessionKey: 'agent:main:main',
        route: 'fake:7',
        mode: 'steer',
        provenance: { kind: 'external_user', channel: 'fake' },
        subject: { channel: 'fake', sender: 'owner', session: 'main' },
      }),
    );
  await send('one');
  await begun.promise;
  await send('two');
  await clock.passes(0.5);
  await clock.passes(4.5);
  expect(await late.promise).toEqual([]);
  await expect.poll(() => p.channel.answers.map((answer) => answer.text), { interval: 10 }).toContain('the next answer');
});

test('what counts where nobody says otherwise is two days', async () => {
  await using p = await product(['x']);
  expect(await p.t.kernel.run((run) => run.call(UsualFields, {}))).toMatchObject({ timeoutSeconds: 172_800 });
});

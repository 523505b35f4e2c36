import { expect, test } from 'vitest';
import { definePlugin, RegisterTools, defineTool, text } from '../../../kernel/index.ts';
import { type Arrival, Inbox, type QueueMode } from '../../../plugins/inbox/contract.ts';
import { type Delivery, Outbox, SendDelivery } from '../../../plugins/outbox/contract.ts';
import { Sessions } from '../../../plugins/sessions/contract.ts';
import { AdmitMessage } from '../../../plugins/turns/contract.ts';
import { allowAll, bundledPlugins, fakeModel, type Script, testKernel } from '../../../plugins/testing/kit.ts';

const off = [
  'chat',
  'cli',
  'gateway',
  'openai-http',
  'web',
  'watch',
  'model-demo',
  'models-openai',
  'models-pi',
  'plugins-admin',
  'policy',
];
const key = 'agent:main:main';

/** All plugins but the doors, a tool that waits to be let go, and a chat whose answers all go to one place. */
async function product(script: Script, queue: object = {}) {
  const sent: Delivery[] = [];
  const tool = { begun: Promise.withResolvers<void>(), go: Promise.withResolvers<void>() };
  const around = definePlugin({
    name: 'around',
    description: 'test',
    setup(ctx) {
      ctx.tap(SendDelivery, (delivery) => {
        sent.push(delivery);
        return { kind: 'delivered' };
      });
      ctx.tap(AdmitMessage, (came) => (came.content === 'bad' ? { ...came, refused: 'not here' } : came));
      const execute = async () => {
        tool.begun.resolve();
        await tool.go.promise;
        return text('the tool is done');
      };
      const wait = defineTool({ name: 'wait', description: '', parameters: { type: 'object', properties: {} } as const, execute });
      ctx.tap(RegisterTools, (tools) => [...tools, wait]);
    },
  });
  const model = fakeModel(script);
  const config = { agents: { defaults: { model: 'fake/fake' } }, messages: { queue: { debounceMs: 0, ...queue } } };
  const t = await testKernel({ plugins: [...(await bundledPlugins(off)), allowAll, around, model], config });
  const run = t.kernel.run.bind(t.kernel);
  const say = async (content: string, facts: Partial<Arrival> = {}) => {
    const subject = { channel: 'test', sender: 'owner', session: 'main' } as const;
    const provenance = { kind: 'external_user', channel: 'test' } as const;
    const arrival = { sessionKey: key, agentId: 'main', content, provenance, subject, route: 'test:chat', ...facts };
    return (await run((r) => r.get(Inbox).enqueue(arrival))).itemId;
  };
  const told = (itemId: string) => run((r) => r.get(Outbox).find(itemId));
  return {
    t,
    sent,
    tool,
    model,
    say,
    abort: () => run((r) => r.get(Inbox).abort(key, 'stop')),
    told,
    textOf: async (itemId: string) => (await told(itemId))?.payloads.map((payload) => payload.text).join('\n'),
    /** Once nothing runs or waits. */
    quiet: () => expect.poll(() => run((r) => r.get(Inbox).active().length), { interval: 5, timeout: 10_000 }).toBe(0),
    asked: () =>
      model.requests.map(({ messages }) => messages.flatMap((one) => (one.role === 'user' ? [one.content as string] : [])).join(' | ')),
    session: () => run(async (r) => (await r.get(Sessions).find(key))?.sessionId),
    [Symbol.asyncDispose]: async () => {
      tool.go.resolve();
      await t[Symbol.asyncDispose]();
    },
  };
}

/** Uses the tool for the first request, then repeats what it was told last. */
const toolFirst: Script = ({ messages }, number) => {
  if (number === 0) return { calls: [{ name: 'wait' }] };
  const heard = messages.flatMap((one) => (one.role === 'user' ? [one.content as string] : []));
  return `heard ${heard.join(', ')}`;
};

async function during(p: Awaited<ReturnType<typeof product>>, mode: QueueMode | undefined, contents: readonly string[]) {
  const first = await p.say('begin');
  await p.tool.begun.promise;
  const later: string[] = [];
  for (const content of contents) later.push(await p.say(content, mode && { mode }));
  return [first, ...later];
}

test('SPEC 6.3: followup: each message has a turn of its own, in order', async () => {
  await using p = await product(toolFirst);
  const ids = await during(p, undefined, ['one', 'two']);
  p.tool.go.resolve();
  await p.quiet();
  expect(p.asked()).toEqual(['begin', 'begin', 'begin | one', 'begin | one | two']);
  expect(p.sent.map(({ itemId }) => itemId)).toEqual(ids);
});

test('SPEC 6.3, U128: steer: a message joins the running turn after its tools, and one answer serves both', async () => {
  await using p = await product(toolFirst, { byChannel: { test: 'steer' } });
  const ids = await during(p, undefined, ['one', 'two']);
  p.tool.go.resolve();
  await p.quiet();
  expect(p.asked()).toEqual(['begin', 'begin | one | two']);
  expect(p.model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'toolResult', 'user', 'user']);
  expect(p.sent.map(({ itemId }) => itemId)).toEqual([ids[2]]); // once, to the newest
  expect(await Promise.all(ids.map(p.textOf))).toEqual(Array.from({ length: 3 }, () => 'heard begin, one, two'));
  const usages = (await Promise.all(ids.map(p.told))).map((one) => one?.meta['joins']);
  expect(usages).toEqual([ids[2], ids[2], undefined]);
});

test('SPEC 6.3: steer without a further round has a turn of its own', async () => {
  const gate = Promise.withResolvers<string>();
  await using p = await product((_, number) => (number === 0 ? gate.promise : 'later'), { mode: 'steer' });
  await p.say('begin');
  await expect.poll(() => p.model.requests.length, { interval: 5 }).toBe(1);
  await p.say('one');
  gate.resolve('first');
  await p.quiet();
  expect(p.sent.map(({ payloads }) => payloads[0]?.text)).toEqual(['first', 'later']);
});

test('SPEC 6.3: collect: all that waits becomes one turn', async () => {
  await using p = await product(toolFirst, { mode: 'collect' });
  const ids = await during(p, undefined, ['one', 'two', 'three']);
  p.tool.go.resolve();
  await p.quiet();
  expect(p.asked()).toEqual(['begin', 'begin', 'begin | one | two | three']);
  expect(p.sent.map(({ itemId }) => itemId)).toEqual([ids[0], ids[3]]);
  expect(await p.textOf(ids[1] as string)).toBe('heard begin, one, two, three');
});

test('SPEC 6.3: interrupt: the turn ends, its tool is told so, and the message runs', async () => {
  await using p = await product(toolFirst, { mode: 'interrupt' });
  const [begin = '', one = ''] = await during(p, undefined, ['one']);
  p.tool.go.resolve(); // this tool does not look at its signal
  await p.quiet();
  expect((await p.told(begin))?.meta).toMatchObject({ stopReason: 'aborted' });
  expect(await p.textOf(one)).toBe('heard begin, one');
});

test('a message of a stranger never joins the turn of an owner', async () => {
  await using p = await product(toolFirst, { mode: 'steer' });
  await p.say('begin');
  await p.tool.begun.promise;
  await p.say('let me in', { subject: { channel: 'test', sender: 'unknown', session: 'main' } });
  p.tool.go.resolve();
  await p.quiet();
  expect(p.asked()).toEqual(['begin', 'begin', 'begin | let me in']);
});

test('one that is refused as it joins is told so by itself, and the turn goes on without it', async () => {
  await using p = await product(toolFirst, { mode: 'steer' });
  const [begin = '', bad = '', good = ''] = await during(p, undefined, ['bad', 'good']);
  p.tool.go.resolve();
  await p.quiet();
  expect(await p.textOf(bad)).toBe('not here');
  expect((await p.told(bad))?.meta).toMatchObject({ error: { code: 'MESSAGE_REFUSED' } });
  expect([await p.textOf(begin), await p.textOf(good)]).toEqual(['heard begin, good', 'heard begin, good']);
});

test('U131: of 25 quick messages over a cap of 20 each is answered or refused with a reason', async () => {
  await using p = await product(toolFirst);
  const ids = await during(
    p,
    undefined,
    Array.from({ length: 25 }, (_, i) => `m${i}`),
  );
  p.tool.go.resolve();
  await p.quiet();
  await expect.poll(() => p.sent.length, { interval: 5 }).toBe(26);
  const codes = (await Promise.all(ids.map(p.told))).map((one) => (one?.meta['error'] as { code: string } | undefined)?.code ?? 'fine');
  expect(codes).toEqual([...Array.from({ length: 21 }, () => 'fine'), ...Array.from({ length: 5 }, () => 'QUEUE_FULL')]);
  expect(await p.textOf(ids[25] as string)).toContain('20 messages wait here already');
});

test('U129: what waits runs after a turn was stopped', async () => {
  await using p = await product(toolFirst);
  const [, one = ''] = await during(p, undefined, ['one']);
  await p.abort();
  p.tool.go.resolve();
  await p.quiet();
  expect(await p.textOf(one)).toBe('heard begin, one');
});

test('/stop ends the turn and what waits, tells how many, and what comes after runs', async () => {
  await using p = await product(toolFirst);
  const [begin = '', one = '', stop = ''] = await during(p, undefined, ['one', '/stop']);
  p.tool.go.resolve();
  const next = await p.say('next');
  await p.quiet();
  await expect.poll(() => p.textOf(stop), { interval: 5 }).toBe('Stopped, with one message that waited.');
  await expect.poll(() => p.textOf(next), { interval: 5 }).toBe('heard begin, next');
  expect([(await p.told(begin))?.meta['stopReason'], (await p.told(one))?.meta['stopReason']]).toEqual(['aborted', 'aborted']);
});

test('/new begins another conversation; what was sent right after it belongs to that', async () => {
  await using p = await product((_, number) => `reply ${number}`);
  await p.say('before');
  await p.quiet();
  const before = await p.session();
  const [command, after] = await Promise.all([p.say('/new'), p.say('after')]);
  await expect.poll(() => p.textOf(after), { interval: 5 }).toBe('reply 1');
  expect(await p.textOf(command)).toBe('A new conversation begins.');
  expect(await p.session()).not.toBe(before);
  expect(p.asked()).toEqual(['before', 'after']);
});

test('/queue sets how the messages of a session wait, also after a reload, and takes it back', async () => {
  await using p = await product(toolFirst, { mode: 'collect' });
  const say = async (content: string) => {
    const id = await p.say(content);
    await expect.poll(() => p.textOf(id), { interval: 5 }).toBeDefined();
    return p.textOf(id);
  };
  expect(await say('/queue')).toContain('collect');
  expect(await say('/queue steer')).toContain('steer');
  await p.t.reload('inbox');
  expect(await say('/queue')).toContain('steer');
  expect(await say('/queue faster')).toContain('no queue mode "faster"');
  await during(p, undefined, ['one']);
  p.tool.go.resolve();
  await p.quiet();
  expect(p.asked()).toEqual(['begin', 'begin | one']);
  expect(await say('/queue default')).toContain('collect');
});

test('U131: drop "summarize": what is over the cap is answered with the next turn, which reads how each begins', async () => {
  await using p = await product(toolFirst, { cap: 2, drop: 'summarize' });
  const long = `deploy the site, then ${'x'.repeat(500)}`;
  const ids = await during(p, undefined, [long, 'a short one', 'three', 'four']);
  p.tool.go.resolve();
  await p.quiet();
  const last = p.asked().at(-2) ?? '';
  expect(last).toMatch(
    /^begin \| \[one of many messages that came at once, shortened\] deploy the site, then x+… \| a short one \| three$/,
  );
  expect(last.length).toBeLessThan(400);
  expect(p.sent.map(({ itemId }) => itemId)).toEqual([ids[0], ids[3], ids[4]]);
  const answers = await Promise.all(ids.slice(1, 4).map(p.textOf));
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toMatch(/^heard begin, .*a short one, three$/);
});

test('another debounce counts for a channel that has one', async () => {
  await using p = await product(toolFirst, { mode: 'collect', debounceMs: 60_000, debounceMsByChannel: { test: 0 } });
  await during(p, undefined, ['one', 'two']);
  p.tool.go.resolve();
  await p.quiet();
  expect(p.asked().at(-1)).toBe('begin | one | two');
});

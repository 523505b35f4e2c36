import { expect, test } from 'vitest';
import { bail, CheckGeneration, definePlugin, notify, service, waterfall } from '../../kernel/index.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import { bootTest, entry, testKernel } from '../support/kernel.ts';

const Db = service<{ readonly v: string }>('test.db');
const Words = waterfall<readonly string[]>('test.words');
const Tick = notify<string>('test.tick');
const Ask = bail<string, string>('test.ask');

/** Plugins that write down what happens to them. */
function scene() {
  const log: string[] = [];
  const db = (v: string) =>
    entry(
      definePlugin({
        name: 'db',
        description: 'a store',
        provides: [Db],
        setup(ctx) {
          log.push(`db+${v}`);
          ctx.provide(Db, { v });
          ctx.defer(() => void log.push(`db-${v}`));
        },
      }),
      v,
    );
  const mem = entry(
    definePlugin({
      name: 'mem',
      description: 'needs the store',
      needs: { db: Db },
      setup(ctx) {
        log.push('mem+');
        const { v } = ctx.needs.db;
        ctx.tap(Words, (words) => [...words, `mem:${v}`]);
        ctx.defer(() => void log.push('mem-'));
      },
    }),
  );
  const id = (v = '1', fails = false) =>
    entry(
      definePlugin({
        name: 'id',
        description: 'stands alone',
        setup(ctx) {
          log.push('id+');
          ctx.defer(() => void log.push(`id-${v}`));
          if (fails) throw new Error('boom');
          ctx.tap(Words, (words) => [...words, `id${v}`]);
        },
      }),
      v + fails,
    );
  return { log, db, mem, id, take: () => log.splice(0) };
}

const words = (kernel: Kernel) => kernel.run((run) => run.call(Words, []));
const drained = (kernel: Kernel) => expect.poll(() => kernel.inspect().retiring.length, { interval: 1 }).toBe(0);

test('only the changed plugin and its dependents are rebuilt, in order, and tap order stays', async () => {
  const { db, mem, id, take } = scene();
  await using t = await bootTest([id(), mem, db('a')]);
  expect(await words(t.kernel)).toEqual(['id1', 'mem:a']);
  take();
  await t.apply([id(), mem, db('b')]);
  await drained(t.kernel);
  expect(await words(t.kernel)).toEqual(['id1', 'mem:b']);
  expect(take()).toEqual(['db+b', 'mem+', 'mem-', 'db-a']);
  await t.apply([id('2'), mem, db('b')]);
  await drained(t.kernel);
  expect(await words(t.kernel)).toEqual(['id2', 'mem:b']);
  expect(take()).toEqual(['id+', 'id-1']);
});

test('the swap says what was rebuilt and why', async () => {
  const { db, mem, id } = scene();
  await using t = await bootTest([id(), mem, db('a')]);
  expect(await t.apply([id(), mem, db('b')])).toMatchObject({
    generation: 2,
    built: [
      { plugin: 'db', why: 'its code changed' },
      { plugin: 'mem', why: 'it needs db' },
    ],
    removed: [],
  });
  expect(await t.apply([id()])).toMatchObject({ removed: ['db', 'mem'], built: [] });
});

test('a failing candidate is undone in reverse and the last good generation stays', async () => {
  const { db, id, take } = scene();
  await using t = await bootTest([id(), db('a')]);
  take();
  await expect(t.apply([db('b'), id('2', true)])).rejects.toMatchObject({ code: 'SETUP_FAILED', facts: { plugin: 'id' } });
  expect(take()).toEqual(['db+b', 'id+', 'id-2', 'db-b']);
  expect(await words(t.kernel)).toEqual(['id1']);
  expect(t.kernel.inspect().generation).toBe(1);
});

test('a run in flight keeps its generation, and applying from inside it does not deadlock', async () => {
  const { db, mem, log } = scene();
  await using t = await bootTest([mem, db('a')]);
  const seen = await t.kernel.run(async (run) => {
    await t.apply([mem, db('b')]);
    expect(t.kernel.inspect().retiring).toEqual([{ generation: 1, runs: 1 }]);
    expect(log).not.toContain('db-a');
    return [await run.call(Words, []), run.get(Db).v];
  });
  expect(seen).toEqual([['mem:a'], 'a']);
  expect(await words(t.kernel)).toEqual(['mem:b']);
  await drained(t.kernel);
  expect(log).toContain('db-a');
});

test('removing a plugin stops its intake at the swap, and a run in flight can still send through it', async () => {
  const Chan = service<{ send(text: string): string }>('test.chan');
  const seen: string[] = [];
  const chan = (v: string) =>
    entry(
      definePlugin({
        name: 'chan',
        description: 'holds a socket',
        provides: [Chan],
        async setup(ctx) {
          const socket = await ctx.lease('sock', () => ({
            send: (text: string) => `sent ${text}`,
            retire: () => void seen.push('retire'),
            async [Symbol.asyncDispose]() {
              seen.push('close');
            },
          }));
          ctx.signal.addEventListener('abort', () => seen.push(`signal-${v}`));
          ctx.provide(Chan, socket);
        },
      }),
      v,
    );
  await using t = await bootTest([chan('1')]);
  await t.apply([chan('2')]);
  expect(seen).toEqual(['signal-1']);
  await t.kernel.run(async (run) => {
    await t.apply([]);
    expect(seen).toEqual(['signal-1', 'signal-2', 'retire']);
    expect(run.get(Chan).send('x')).toBe('sent x');
  });
  await drained(t.kernel);
  await expect.poll(() => seen, { interval: 1 }).toEqual(['signal-1', 'signal-2', 'retire', 'close']);
});

test('a disposer that throws or hangs is reported, the rest are undone and the reload succeeds', async () => {
  const { db, log } = scene();
  await using t = await testKernel({ disposeMs: 20 });
  const bad = entry(
    definePlugin({
      name: 'bad',
      description: 'cannot clean up',
      needs: { db: Db },
      setup(ctx) {
        ctx.defer(() => {
          throw new Error('stuck');
        });
        ctx.defer(() => new Promise(() => {}));
      },
    }),
  );
  await t.apply([db('a'), bad]);
  await t.apply([]);
  await drained(t.kernel);
  expect(log).toEqual(['db+a', 'db-a']);
  const codes = t.records.map((record) => (record.error as { code: string }).code);
  expect(codes).toEqual(['DISPOSE_TIMEOUT', 'DISPOSE_FAILED']);
});

test('tap, provide, lease and onLive after setup are errors', async () => {
  await using t = await testKernel();
  const caught: unknown[] = [];
  const late = definePlugin({
    name: 'late',
    description: 'too late',
    setup(ctx) {
      ctx.onLive(async () => {
        for (const call of [() => ctx.tap(Words, (w) => w), () => ctx.onLive(() => {})]) {
          try {
            call();
          } catch (error) {
            caught.push(error);
          }
        }
        await ctx.lease('x', () => ({ async [Symbol.asyncDispose]() {} })).catch((error) => caught.push(error));
      });
    },
  });
  await t.apply([late]);
  await expect
    .poll(() => caught, { interval: 1 })
    .toMatchObject(
      ['tap', 'onLive', 'lease'].map((what) => ({ code: 'PLUGIN_LATE', message: expect.stringContaining(`called ${what} after setup`) })),
    );
});

test('intake starts at the swap, and a run opened in setup waits for it', async () => {
  await using t = await testKernel();
  const order: string[] = [];
  let early: Promise<unknown> | undefined;
  const eager = (fails: boolean) =>
    entry(
      definePlugin({
        name: 'eager',
        description: 'runs at once',
        setup(ctx) {
          early = ctx.run((run) => order.push(`run on ${run.generation}`));
          ctx.onLive(() => void order.push('live'));
          order.push('setup');
          if (fails) throw new Error('no');
        },
      }),
      String(fails),
    );
  await t.apply([]);
  await t.apply([eager(true)]);
  await expect(early).rejects.toMatchObject({ code: 'CANDIDATE_DROPPED' });
  expect(order).toEqual(['setup']);
  await t.apply([eager(false)]);
  await early;
  expect(order).toEqual(['setup', 'setup', 'live', 'run on 3']);
});

test('generation.check rejects a candidate that would live badly', async () => {
  const { id } = scene();
  await using t = await bootTest([id()]);
  const check = definePlugin({
    name: 'check',
    description: 'refuses',
    setup: (ctx) => ctx.tap(CheckGeneration, ({ plugins }) => `no ${plugins.join()}`),
  });
  await expect(t.apply([id(), check])).rejects.toMatchObject({ code: 'GENERATION_REJECTED', message: 'no id,check' });
  expect(await words(t.kernel)).toEqual(['id1']);
});

test('a notify tap that throws is reported and the rest run; a waterfall that returns nothing is an error', async () => {
  const heard: string[] = [];
  const taps = definePlugin({
    name: 'p',
    description: 'taps',
    setup(ctx) {
      ctx.tap(Tick, () => {
        throw new Error('no');
      });
      ctx.tap(Tick, (what) => void heard.push(what));
      ctx.tap(Words, () => undefined as never);
      ctx.tap(Ask, (q) => (q === 'a' ? 'first' : undefined), 1);
      ctx.tap(Ask, () => 'second', 2);
    },
  });
  await using t = await bootTest([taps]);
  await t.kernel.run(async (run) => {
    await run.call(Tick, 'tick');
    await expect(run.call(Words, [])).rejects.toMatchObject({ code: 'HOOK_FAILED', facts: { plugin: 'p', hook: 'test.words' } });
    expect([await run.call(Ask, 'a'), await run.call(Ask, 'b')]).toEqual(['first', 'second']);
  });
  expect(heard).toEqual(['tick']);
  expect(t.records).toMatchObject([{ error: { code: 'HOOK_FAILED', facts: { hook: 'test.tick' } } }]);
});

test('cycles, double names and double services are named and left out; the rest runs', async () => {
  const A = service<1>('test.a');
  const B = service<1>('test.b');
  const p = definePlugin({ name: 'p', description: '', needs: { b: B }, provides: [A], setup() {} });
  const q = definePlugin({ name: 'q', description: '', needs: { a: A }, provides: [B], setup() {} });
  const { id, db } = scene();
  const other = definePlugin({ name: 'other', description: '', provides: [Db], setup: (ctx) => ctx.provide(Db, { v: '' }) });
  await using t = await bootTest([p, q, id(), id('2'), db('a'), other]);
  const { leftOut, instances } = t.kernel.inspect();
  expect(leftOut).toMatchObject([
    { plugin: 'id', code: 'PLUGIN_DUPLICATE' },
    { plugin: 'other', code: 'SERVICE_DUPLICATE' },
    { plugin: 'p', code: 'PLUGIN_CYCLE', why: expect.stringContaining('p -> q -> p') },
    { plugin: 'q', code: 'SERVICE_UNKNOWN', why: expect.stringContaining('"p" would provide it, but was left out') },
  ]);
  expect(instances.map((one) => one.plugin)).toEqual(['id', 'db']);
});

test('a plugin that fails at boot is left out with its dependents, and says why to whoever asks for its service', async () => {
  const { mem, id } = scene();
  const broken = definePlugin({
    name: 'db',
    description: '',
    provides: [Db],
    setup() {
      throw new Error('disk on fire');
    },
  });
  await using t = await bootTest([id(), broken, mem]);
  expect(await words(t.kernel)).toEqual(['id1']);
  expect(t.kernel.inspect().leftOut.map((out) => out.plugin)).toEqual(['db', 'mem']);
  await t.kernel.run((run) => {
    expect(() => run.get(Db)).toThrow(/plugin "db" would provide it, but was left out: .*disk on fire/);
  });
});

test('a required plugin that fails stops the boot', async () => {
  await using t = await testKernel();
  const core = definePlugin({
    name: 'core',
    description: '',
    required: true,
    setup() {
      throw new Error('no');
    },
  });
  await expect(t.apply([core])).rejects.toMatchObject({ code: 'SETUP_FAILED' });
  await expect(t.kernel.run(() => {})).rejects.toMatchObject({ code: 'NOT_LIVE' });
});

test('a run used after its end is refused', async () => {
  const { id } = scene();
  await using t = await bootTest([id()]);
  const run = await t.kernel.run((r) => r);
  await expect(run.call(Words, [])).rejects.toMatchObject({ code: 'RUN_ENDED' });
});

test('draining stops intake at once, lets runs finish and then disposes', async () => {
  const { db, log } = scene();
  const t = await bootTest([db('a')]);
  const done = Promise.withResolvers<void>();
  const run = t.kernel.run(async (r) => {
    await done.promise;
    return r.get(Db).v;
  });
  const drain = t.kernel.drain();
  expect(log).toEqual(['db+a']);
  done.resolve();
  expect(await run).toBe('a');
  await drain;
  expect(log).toEqual(['db+a', 'db-a']);
  await t[Symbol.asyncDispose]();
});

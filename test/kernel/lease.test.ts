import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { type Context, type Leasable, waterfall } from '../../kernel/index.ts';
import { bootTest, entry, plugin, testKernel } from '../support/kernel.ts';

/** Resources that write down what happens to them, and plugins that hold one. */
function scene() {
  const log: string[] = [];
  const open = (close: () => void | Promise<void> = () => {}): Leasable => {
    log.push('open');
    return {
      retire: () => void log.push('retire'),
      resume: () => void log.push('resume'),
      async [Symbol.asyncDispose]() {
        await close();
        log.push('close');
      },
    };
  };
  const holder = (
    name: string,
    version = '1',
    after: (ctx: Context<never, never>) => void = () => {},
    create: () => Leasable | Promise<Leasable> = open,
  ) =>
    entry(
      plugin(name, async (ctx) => {
        await ctx.lease('socket', create);
        after(ctx as never);
      }),
      version,
    );
  return { log, open, holder, take: () => log.splice(0) };
}

const fails = () => {
  throw new Error('no');
};

test('two plugins share what has one key; it is closed when the last lets go', async () => {
  const { holder, take } = scene();
  await using t = await bootTest([holder('a'), holder('b')]);
  expect(t.kernel.inspect().leases).toEqual([{ key: 'socket', holders: 2 }]);
  expect(t.kernel.inspect().instances).toMatchObject([{ leases: ['socket'] }, { leases: ['socket'] }]);
  await t.apply([holder('b')]);
  await expect.poll(() => t.kernel.inspect().leases, { interval: 1 }).toEqual([{ key: 'socket', holders: 1 }]);
  expect(take()).toEqual(['open']);
  await t.apply([]);
  await expect.poll(() => t.kernel.inspect().leases, { interval: 1 }).toEqual([]);
  expect(take()).toEqual(['retire', 'close']);
});

test('asked for twice by one plugin it is one share', async () => {
  const { open, take } = scene();
  const twice = plugin('twice', async (ctx) => {
    expect(await ctx.lease('socket', () => open())).toBe(await ctx.lease('socket', () => open()));
  });
  await using t = await bootTest([twice]);
  expect(t.kernel.inspect().leases).toEqual([{ key: 'socket', holders: 1 }]);
  await t.kernel.drain();
  expect(take()).toEqual(['open', 'retire', 'close']);
});

test('a failed candidate lets go of its share and nothing else', async () => {
  const { holder, take } = scene();
  await using t = await bootTest([holder('a')]);
  await expect(t.apply([holder('a', '2', fails)])).rejects.toMatchObject({ code: 'SETUP_FAILED' });
  expect(t.kernel.inspect().leases).toEqual([{ key: 'socket', holders: 1 }]);
  expect(take()).toEqual(['open']);
});

test('what fails to open is told to its plugin, and the key is free again', async () => {
  const { open, holder, take } = scene();
  const retries = plugin('retries', async (ctx) => {
    await ctx.lease('socket', async () => fails()).catch(() => {});
    await ctx.lease('socket', () => open());
  });
  await using t = await bootTest([holder('a', '1', undefined, fails), retries]);
  expect(t.kernel.inspect()).toMatchObject({ leftOut: [{ plugin: 'a', code: 'SETUP_FAILED' }], leases: [{ holders: 1 }] });
  expect(take()).toEqual(['open']);
});

test('held again while a run still uses it, it goes on instead of being opened twice', async () => {
  const { holder, take } = scene();
  await using t = await bootTest([holder('a')]);
  await t.kernel.run(async () => {
    await t.apply([]);
    expect(take()).toEqual(['open', 'retire']);
    await expect(t.apply([holder('a', '1', fails)])).resolves.toMatchObject({ leftOut: [{ plugin: 'a' }] });
    expect(take()).toEqual([]);
    await t.apply([holder('a')]);
    expect(take()).toEqual(['resume']);
  });
  await t.apply([holder('a', '2')]);
  expect(take()).toEqual([]);
});

test('given up while it waits for the old one to close, it is never opened', async () => {
  const { open, holder, take } = scene();
  const closing = Promise.withResolvers<void>();
  await using t = await testKernel({ setupMs: 30 });
  await t.apply([holder('a', '1', undefined, () => open(() => closing.promise))]);
  await t.apply([]);
  await t.apply([holder('b')]);
  expect(t.kernel.inspect().leftOut).toMatchObject([{ plugin: 'b', code: 'SETUP_TIMEOUT' }]);
  closing.resolve();
  await t.apply([holder('c')]);
  expect(take()).toEqual(['open', 'retire', 'close', 'open']);
});

test('one that opens too late is closed as soon as it is there', async () => {
  const { open, holder, log } = scene();
  const opening = Promise.withResolvers<void>();
  await using t = await testKernel({ setupMs: 30 });
  const slow = async () => {
    await opening.promise;
    return open();
  };
  await t.apply([holder('a', '1', undefined, slow)]);
  expect(t.kernel.inspect().leftOut).toMatchObject([{ code: 'SETUP_TIMEOUT' }]);
  opening.resolve();
  await expect.poll(() => log, { interval: 1 }).toEqual(['open', 'close']);
});

test('one that hangs in closing is left behind, reported, and the key is free again', async () => {
  const { open, holder, take } = scene();
  await using t = await testKernel({ disposeMs: 20 });
  await t.apply([holder('a', '1', undefined, () => open(() => new Promise(() => {})))]);
  await t.apply([]);
  await t.apply([holder('b')]);
  expect(take()).toEqual(['open', 'retire', 'open']);
  expect(t.records).toMatchObject([{ error: { code: 'DISPOSE_TIMEOUT', message: expect.stringContaining('lease "socket"') } }]);
});

test('one that throws in closing or retiring is reported, and the swap goes on', async () => {
  const { holder, take } = scene();
  const bad = (): Leasable => ({ retire: fails, resume: fails, [Symbol.asyncDispose]: async () => fails() });
  const other = plugin('other', async (ctx) => void (await ctx.lease('other', bad)));
  await using t = await bootTest([other, holder('a')]);
  await t.apply([]);
  await expect.poll(() => t.records.length, { interval: 1 }).toBe(2);
  expect(take()).toEqual(['open', 'retire', 'close']);
});

test('a leased listener drops no request under good and failing reloads', async () => {
  const Reply = waterfall<string>('test.reply');
  const ports: number[] = [];
  const web = (v: string, isBad = false) =>
    entry(
      plugin('web', async (ctx) => {
        const { run } = ctx;
        await ctx.lease('tcp:1', () => listen(ports, () => run((r) => r.call(Reply, ''))));
        if (isBad) throw new Error('no');
        ctx.tap(Reply, (body) => body + v);
      }),
      v + isBad,
    );
  await using t = await bootTest([web('1')]);
  const get = async () => (await fetch(`http://127.0.0.1:${ports[0]}`, { headers: { connection: 'close' } })).text();
  const done = new AbortController();
  const answers: string[] = [];
  const hammer = (async () => {
    while (!done.signal.aborted) answers.push(await get());
  })();
  for (let i = 2; i < 30; i++) {
    await t.apply([web(String(i))]);
    await expect(t.apply([web('z', true)])).rejects.toMatchObject({ code: 'SETUP_FAILED' });
    await get();
  }
  done.abort();
  await hammer;
  expect({ opened: ports.length, leases: t.kernel.inspect().leases.length }).toEqual({ opened: 1, leases: 1 });
  expect(answers.length).toBeGreaterThan(5);
  expect(answers).not.toContain('');
  expect(await get()).toBe('29');
});

function listen(ports: number[], answer: () => Promise<string>): Promise<Leasable> {
  const server = createServer((_, res) => void answer().then((text) => res.end(text)));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  };
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      ports.push((server.address() as AddressInfo).port);
      resolve({ [Symbol.asyncDispose]: close });
    }),
  );
}

test('a lease that is slow to close is awaited before it is made again', async () => {
  const { open, holder, take } = scene();
  const close = Promise.withResolvers<void>();
  await using t = await bootTest([holder('a', '1', undefined, () => open(() => close.promise))]);
  await t.apply([]);
  const again = t.apply([holder('a')]);
  close.resolve();
  await again;
  expect(take()).toEqual(['open', 'retire', 'close', 'open']);
});

test('a setup that never settles is given up, and its lease does not wedge the next candidate', async () => {
  const { holder, take } = scene();
  await using t = await testKernel({ setupMs: 30 });
  await t.apply([holder('a', '1', undefined, () => new Promise(() => {}))]);
  expect(t.kernel.inspect().leftOut).toMatchObject([{ plugin: 'a', code: 'SETUP_TIMEOUT' }]);
  await t.apply([holder('b')]);
  expect(take()).toEqual(['open']);
});

const anew = (one: ReturnType<typeof entry>) => ({ ...one, isAnew: true });

test('a hard reload closes what the plugin leased before it is made anew, with code that is the same or not', async () => {
  const { holder, take } = scene();
  await using t = await bootTest([holder('a')]);
  expect(take()).toEqual(['open']);
  expect((await t.apply([holder('a')])).built).toEqual([]);
  expect((await t.apply([anew(holder('a'))])).built).toEqual([{ plugin: 'a', why: 'hard reload' }]);
  expect(take()).toEqual(['close', 'open']);
  await t.apply([anew(holder('a', '2'))]);
  expect(take()).toEqual(['close', 'open']);
  expect(t.kernel.inspect().leases).toEqual([{ key: 'socket', holders: 1 }]);
});

test('asked for twice in a hard reload, a lease is made anew once', async () => {
  const { open, take } = scene();
  const twice = entry(
    plugin('twice', async (ctx) => {
      expect(await ctx.lease('socket', () => open())).toBe(await ctx.lease('socket', () => open()));
    }),
  );
  await using t = await bootTest([twice]);
  await t.apply([anew(twice)]);
  expect(take()).toEqual(['open', 'close', 'open']);
});

test('a hard reload that fails after the lease was made leaves it closed; the live code can make it again', async () => {
  const { holder, take } = scene();
  await using t = await bootTest([holder('a')]);
  await expect(t.apply([anew(holder('a', '2', fails))])).rejects.toMatchObject({ code: 'SETUP_FAILED' });
  expect(take()).toEqual(['open', 'close', 'open', 'close']);
  await t.apply([anew(holder('a'))]);
  expect(take()).toEqual(['open']);
  expect(t.kernel.inspect().leases).toEqual([{ key: 'socket', holders: 1 }]);
});

import { expect, test } from 'vitest';
import { text } from '../../../kernel/index.ts';
import { calling, product, tool } from './product.ts';

test('SPEC 6.1: neighbours whose tools allow it run side by side, all else alone; results stand in the order of the calls', async () => {
  const now: string[] = [];
  const most: string[] = [];
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let n = 0;
  const busy = async (name: string, work: Promise<void>) => {
    now.push(name);
    most.push([...now].toSorted().join('+'));
    await work;
    now.splice(now.indexOf(name), 1);
    return text(`${name} ${++n}`);
  };
  const quick = tool(
    'quick',
    () => {
      const [first, second] = gates;
      const isFirst = now.length === 0;
      if (!isFirst) second!.resolve();
      return busy('quick', isFirst ? second!.promise.then(() => first!.promise) : Promise.resolve().then(() => first!.resolve()));
    },
    { parallel: true },
  );
  const alone = tool('alone', () => busy('alone', Promise.resolve()));
  await using p = await product([calling('quick', 'quick', 'alone', 'alone'), 'done'], { tools: [quick, alone] });
  expect((await p.channel.ask('go')).text).toBe('done');
  expect(most).toEqual(['quick', 'quick+quick', 'alone', 'alone']);
  const results = (await p.messages()).flatMap((message) => (message.role === 'toolResult' ? [message.toolName] : []));
  expect(results).toEqual(['quick', 'quick', 'alone', 'alone']);
});

test('U132: of eight calls side by side, a hundred times over, each result stands once and in its place', async () => {
  const names = Array.from({ length: 8 }, (_, i) => `side-${i}`);
  // Each ends at another moment than those beside it, and otherwise than the last time.
  const tools = names.map((name, i) =>
    tool(
      name,
      async () => {
        for (let ticks = (i * 5) % 8; ticks > 0; ticks--) await new Promise(setImmediate);
        return text(name);
      },
      { parallel: true },
    ),
  );
  const rounds = 100;
  await using p = await product((_, number) => (number % 2 ? 'done' : calling(...names)), {
    tools,
    loop: { loopGuard: { enabled: false } },
  });
  for (let i = 0; i < rounds; i++) expect((await p.channel.ask('go')).text).toBe('done');
  const results = (await p.messages()).flatMap((message) => (message.role === 'toolResult' ? [message.toolName] : []));
  expect(results).toEqual(Array.from({ length: rounds }, () => names).flat());
}, 30_000);

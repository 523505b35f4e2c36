import { expect, test } from 'vitest';
import { definePlugin, text } from '../../../kernel/index.ts';
import { chatMethods } from '../../../plugins/chat/methods.ts';
import { openWatches } from '../../../plugins/chat/watches.ts';
import type { Client } from '../../../plugins/gateway/contract.ts';
import { type Arrival, Inbox } from '../../../plugins/inbox/contract.ts';
import { Outbox, SendDelivery, type SendResult } from '../../../plugins/outbox/contract.ts';
import { Sessions } from '../../../plugins/sessions/contract.ts';
import { key, product, tool } from '../runtime-embedded/product.ts';

const arrival = (content: string, route = 'slow:x'): Arrival => ({
  sessionKey: key,
  agentId: 'main',
  content,
  provenance: { kind: 'external_user' },
  subject: { sender: 'owner', session: 'main' },
  route,
});
const page = { kind: 'page' } as Client;

/** The product with a tool that works until it is stopped, a door whose sends settle at the test's end (`stuck:`), and the page's methods. */
async function place() {
  const stuck = Promise.withResolvers<SendResult>();
  const begun = Promise.withResolvers<void>();
  const work = tool('work', async (_args, { signal }) => {
    begun.resolve();
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    return text('stopped');
  });
  const door = definePlugin({
    name: 'door',
    description: 'test',
    setup: (ctx) =>
      ctx.tap(SendDelivery, ({ route }) => {
        if (route.startsWith('stuck:')) return stuck.promise;
        return route.startsWith('slow:') ? { kind: 'delivered' } : undefined;
      }),
  });
  const script = ({ messages }: { readonly messages: readonly { readonly content: unknown }[] }) =>
    messages.at(-1)?.content === 'work' ? { calls: [{ name: 'work' }] } : 'said';
  const p = await product(script, { tools: [work], plugins: [door] });
  const { kernel } = p.t;
  const methods = chatMethods(openWatches());
  return {
    begun: begun.promise,
    enqueue: async (content: string, route?: string) => (await kernel.run((run) => run.get(Inbox).enqueue(arrival(content, route)))).itemId,
    call: (method: string, params = { sessionKey: 'main' }) =>
      kernel.run((run) => methods[method]?.(params, page, run) as Promise<unknown>),
    reason: (itemId: string) => kernel.run(async (run) => (await run.get(Outbox).find(itemId))?.meta.stopReason),
    active: () => kernel.run((run) => run.get(Inbox).active().length),
    session: () => kernel.run((run) => run.get(Sessions).find(key)),
    messages: p.messages,
    async [Symbol.asyncDispose]() {
      stuck.resolve({ kind: 'delivered' });
      await p[Symbol.asyncDispose]();
    },
  };
}

test.each(['sessions.reset', 'sessions.remove'])(
  '%s stops what runs and what waits before it is done, and nothing of it comes back',
  async (method) => {
    await using p = await place();
    const runs = await p.enqueue('work');
    await p.begun;
    const waits = await p.enqueue('waits');
    await p.call(method);
    expect(await Promise.all([p.reason(runs), p.reason(waits)])).toEqual(['aborted', 'aborted']);
    expect(await p.active()).toBe(0);
    if (method === 'sessions.remove') expect(await p.session()).toBeUndefined();
    else expect(await p.messages()).toEqual([]);
    const next = await p.enqueue('next');
    await expect.poll(() => p.reason(next), { interval: 5 }).toBe('stop');
    expect((await p.messages()).map(({ role }) => role)).toEqual(['user', 'assistant']);
  },
);

test('a session goes on while an answer of it is being sent, however long that takes; a stop does not wait for it either', async () => {
  await using p = await place();
  const first = await p.enqueue('first', 'stuck:x');
  await expect.poll(() => p.reason(first), { interval: 5 }).toBe('stop');
  const second = await p.enqueue('second', 'stuck:x');
  await expect.poll(() => p.reason(second), { interval: 5 }).toBe('stop');
  await p.enqueue('work', 'stuck:x');
  await p.begun;
  const waits = await p.enqueue('waits', 'stuck:y');
  const stop = await p.enqueue('/stop', 'stuck:x');
  await expect.poll(() => p.reason(stop), { interval: 5 }).toBe('command');
  expect(await p.reason(waits)).toBe('aborted');
  const last = await p.enqueue('last');
  await expect.poll(() => p.reason(last), { interval: 5 }).toBe('stop');
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { RegisterTools, type Subject } from '../../kernel/index.ts';
import { type Installation, installation } from './installation.ts';

let at: Installation;
beforeAll(async () => {
  at = await installation({ tools: { profile: 'full', allow: ['*'] } });
}, 30_000);
afterAll(() => at[Symbol.asyncDispose]());

const strangers: readonly Subject[] = (['known', 'unknown', undefined] as const).flatMap((sender) =>
  (['direct', 'group', 'thread', 'main'] as const).map((session) => ({
    agent: 'main',
    channel: 'telegram',
    session,
    ...(session === 'group' && { group: 'g' }),
    ...(sender && { sender }),
  })),
);

test.each(strangers)(
  'S8: a list that allows everything gives no tool of the owner to %j, when offered and when called',
  async (subject) => {
    const owned = (await at.run((run) => run.call(RegisterTools, []))).filter(({ ownerOnly }) => ownerOnly).map(({ name }) => name);
    expect(owned).toContain('gateway');
    await at.test.kernel.run(
      async (run) => {
        const { tools, removed } = await run.tools();
        expect(tools.map(({ name }) => name).filter((name) => owned.includes(name))).toEqual([]);
        expect(removed.map(({ tool }) => tool)).toEqual(expect.arrayContaining(owned));
        for (const name of owned)
          expect(await run.callTool({ id: 'c', name, args: { action: 'status' } })).toMatchObject({ isError: true });
      },
      { subject },
    );
  },
);

test('S8: the same list gives them to the owner', async () => {
  const subject = { agent: 'main', sender: 'owner', session: 'main' } as const;
  const { tools } = await at.test.kernel.run((run) => run.tools(), { subject });
  expect(tools.map(({ name }) => name)).toContain('gateway');
});

import { expect, test, vi } from 'vitest';
import type { CommandHost } from '../../../plugins/cli/contract.ts';
import { run } from '../../../plugins/sandbox/command.ts';
import type { SandboxExplained } from '../../../plugins/sandbox/contract.ts';
import { folder } from '../../host/folder.ts';
import { instar } from '../../host/instar.ts';

test('SPEC 15.2: instar sandbox explain tells who is sandboxed, by which value, and what isolates', async () => {
  const config = `{\n  agents: { list: [{ id: 'main' }, { id: 'coder', sandbox: { mode: 'all',\n    workspaceAccess: 'rw' } }] },\n}`;
  await using home = await folder({ 'instar.json5': config });
  const told = await instar(home.path, ['sandbox', 'explain', '--agent', 'coder']).ended;
  expect(told.err).toBe('');
  expect(told.out).toMatch(/^ {2}sandboxed +yes {2}agent:coder:main$/m);
  expect(told.out).toMatch(/sandbox\.mode of agent "coder" is "all" {2}\S*instar\.json5:2:\d+$/m);
  expect(told.out).toMatch(/^ {2}workspace +\/workspace is .*the agent's own, to read and write/m);
}, 60_000);

const explained: SandboxExplained = {
  agentId: 'main',
  sessions: [{ session: 'agent:main:main', isSandboxed: true, why: 'mode is "all"', path: 'p', place: 'instar.json5:1:2' }],
  backends: [{ name: 'bubblewrap', works: false, says: 'it is not installed', isUsed: false }],
  world: {
    workspace: '/w',
    workspaceAccess: 'none',
    scope: 'agent',
    network: false,
    readable: [],
    limits: { memoryMb: 1, processes: 2, fileMb: 3 },
    notes: ['a \u001b[31mnote'],
  },
};

async function call(...args: string[]) {
  const ask = vi.fn<(method: string, params: unknown) => Promise<SandboxExplained>>(async () => explained);
  using out = vi.spyOn(console, 'log').mockReturnValue();
  const code = await run(args, { ask } as unknown as CommandHost);
  return { code, asked: ask.mock.calls, out: out.mock.calls.join('\n') };
}

test('where no backend works it says so and exits with 1; --json is the answer as it is', async () => {
  const told = await call('explain', '--session', 'agent:main:main');
  expect(told.asked).toEqual([['sandbox.explain', { agentId: undefined, sessionKey: 'agent:main:main' }]]);
  expect([told.code, told.out]).toEqual([1, expect.stringMatching(/nothing runs in a sandboxed session until a backend works/)]);
  expect(told.out).not.toContain('\u001b[31m');
  expect(JSON.parse((await call('explain', '--json')).out)).toEqual(explained);
});

test.each([
  [[], /sandbox needs a verb/],
  [['explian'], /did you mean "explain"/],
])('wrong words %j are a wrong use', async (args, says) => {
  await expect(call(...args)).rejects.toMatchObject({ code: 'CLI_USAGE', message: expect.stringMatching(says) });
});

import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Agents } from '../../../plugins/agents/contract.ts';
import type { InboxItem } from '../../../plugins/inbox/contract.ts';
import type { ModelRequest } from '../../../plugins/models/contract.ts';
import { Sandbox } from '../../../plugins/sandbox/contract.ts';
import { bundledPlugins, fakeChannel, fakeModel, testKernel } from '../../../plugins/testing/kit.ts';
import { admit } from '../../../plugins/turns/admit.ts';
import { plugin } from '../../support/kernel.ts';
import { noBubblewrap, programs } from './bench.ts';

const marking = { name: 'exec', args: { command: 'id -u > mark; pwd' } };

/** The product, whose model runs one command in each turn and then says what came of it. */
async function scene(sandbox: Readonly<Record<string, unknown>>, env: Readonly<Record<string, string>> = {}) {
  const home = await mkdtemp(join(tmpdir(), 'instar-turn-'));
  const requests: ModelRequest[] = [];
  const model = fakeModel((request) => {
    requests.push(request);
    const last = request.messages.at(-1);
    if (last?.role !== 'toolResult') return { calls: [marking] };
    return last.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  });
  const channel = fakeChannel();
  const config = {
    agents: { defaults: { model: 'fake/fake', sandbox }, list: [{ id: 'main' }, { id: 'free', sandbox: { mode: 'off' } }] },
    tools: { exec: { security: 'full', ask: 'off' } },
  };
  const t = await testKernel({
    plugins: [...(await bundledPlugins()), model, channel],
    config,
    home,
    env: { PATH: process.env['PATH'], INSTAR_NO_DETECT: '1', ...env },
  });
  return {
    t,
    home,
    channel,
    requests,
    async [Symbol.asyncDispose]() {
      await t[Symbol.asyncDispose]();
      await rm(home, { recursive: true, force: true });
    },
  };
}

if (noBubblewrap) console.warn(`\nSKIPPED: turns in the real sandbox. ${noBubblewrap}\n`);

test.skipIf(noBubblewrap)(
  'SPEC 4.5: with mode non-main the main session works on this machine, every other in the sandbox',
  async () => {
    await using s = await scene({ mode: 'non-main' });
    expect((await s.channel.ask('main')).text).toMatch(/\/workspace\n\[exit code 0\]/);
    expect(await readFile(join(s.home, 'workspace', 'mark'), 'utf8')).toBe(`${process.getuid?.()}\n`);
    const subject = { channel: 'fake', sender: 'owner', session: 'direct' } as const;
    expect((await s.channel.ask('other', { sessionKey: 'direct:1', subject })).text).toMatch(
      /sandboxes\/agent-main\/workspace\n\[exit code 0\]/,
    );
    expect(await readFile(join(s.home, 'sandboxes/agent-main/workspace/mark'), 'utf8')).toBe('1000\n');
    const [inside, outside] = [s.requests.at(-1)?.system, s.requests[0]?.system];
    expect(inside).toMatch(/You work in \/workspace\.[^]*## Sandbox\nCommands and file tools run in a sandbox/);
    expect(outside).not.toContain('## Sandbox');
  },
  60_000,
);

test('SPEC 4.5: where no backend works the turn is refused, no model is asked, and its sender learns what to do', async () => {
  await using bin = await programs({});
  await using s = await scene({ mode: 'all' }, { PATH: bin.path });
  const { text, meta } = await s.channel.ask('hello');
  expect(text).toMatch(/^agent "main" works in a sandbox only, and there is none: bubblewrap is not installed; "apt install bubblewrap"/);
  expect(meta).toMatchObject({ stopReason: 'refused' });
  expect(s.requests).toEqual([]);
  expect(existsSync(join(s.home, 'workspace', 'mark'))).toBe(false);
  expect((await s.channel.ask('hello', { agentId: 'free' })).text).toMatch(/exit code/);
}, 60_000);

test.skipIf(noBubblewrap)(
  'S9: what a sandboxed turn began stays in a sandbox, whatever the config of its own agent says',
  async () => {
    await using s = await scene({ mode: 'all' });
    const subject = { channel: 'fake', sender: 'owner', session: 'subagent', sandboxed: true } as const;
    expect((await s.channel.ask('child', { agentId: 'free', subject })).text).toMatch(/sandboxes\/agent-free\/workspace/);
    expect(existsSync(join(s.home, 'workspace-free', 'mark'))).toBe(false);
  },
  60_000,
);

test('a backend that nobody brings is a fault of the config, with the nearest name', async () => {
  await expect(scene({ mode: 'all', backend: 'bublewrap' })).rejects.toThrow(
    /there is no backend "bublewrap"; did you mean "bubblewrap"\?/,
  );
});

const modes = [
  ['off', 'main', false],
  ['off', 'group', false],
  ['non-main', 'main', false],
  ['non-main', 'direct', true],
  ['non-main', 'group', true],
  ['non-main', 'cron', true],
  ['non-main', undefined, true],
  ['all', 'main', true],
  ['all', undefined, true],
] as const;
test('SPEC 4.5: mode and kind of session decide, an agent before the defaults', async () => {
  for (const [mode, session, isSandboxed] of modes) {
    await using s = await testKernel({
      plugins: (await bundledPlugins()).filter(({ name }) => ['agents', 'sandbox'].includes(name)),
      config: { agents: { defaults: { sandbox: { mode } }, list: [{ id: 'main' }, { id: 'free', sandbox: { mode: 'off' } }] } },
    });
    const verdict = (agent: string) => s.kernel.run((run) => run.get(Sandbox).confines(agent, session, run));
    expect([mode, session, await verdict('main')]).toMatchObject([mode, session, { isSandboxed, path: 'agents.defaults.sandbox.mode' }]);
    expect(await verdict('free')).toMatchObject({ isSandboxed: false, path: 'agents.list[1].sandbox.mode' });
  }
});

test('S5: where the plugin is off or left out, what the config wants confined is refused and never run on the host', async () => {
  const field = (_: string, name: string) => (name === 'sandbox.mode' ? 'non-main' : undefined);
  const agents = plugin('agents', (ctx) => ctx.provide(Agents, { field } as unknown as Agents), { provides: [Agents] });
  await using t = await testKernel({ plugins: [agents] });
  const item = (subject: object) =>
    ({ agentId: 'main', sessionKey: 's', content: 'hello', provenance: { kind: 'external_user' }, subject }) as InboxItem;
  const refused = /plugin "sandbox" is off or was left out/;
  for (const [subject, expected] of [
    [{ session: 'main' }, { content: 'hello' }],
    [{ session: 'direct' }, { instead: { stopReason: 'refused', payloads: [{ text: expect.stringMatching(refused) }] } }],
    [{}, { instead: { stopReason: 'refused', payloads: [{ text: expect.stringMatching(refused) }] } }],
    [{ session: 'main', sandboxed: true }, { instead: { stopReason: 'refused', payloads: [{ text: expect.stringMatching(refused) }] } }],
  ] as const)
    expect(await t.kernel.run((run) => admit(item(subject), 0, run))).toMatchObject(expected);
});

import { expect, test } from 'vitest';
import { definePlugin, FilterPolicy } from '../../../kernel/index.ts';
import { Methods } from '../../../plugins/gateway/contract.ts';
import { type Difference, type Explanation, ToolAbsences, type ToolDetail, type ToolList } from '../../../plugins/policy/contract.ts';
import type { TestKernel } from '../../support/kernel.ts';
import { boot } from './catalog.ts';

const here = ['read', 'write', 'exec', 'cron', 'own_tool'];
const pay = definePlugin({
  name: 'pay',
  description: 'test',
  setup(ctx) {
    ctx.tap(ToolAbsences, (all) => [...all, { tool: 'pay', why: 'set pay.key' }, { tool: 'web_search', why: 'set tools.web.search' }]);
    ctx.tap(FilterPolicy, ({ tools, removed }) => ({ tools: tools.filter(({ name }) => name !== 'own_tool'), removed }));
  },
});

const call = <T>({ kernel }: TestKernel, method: string, params: Record<string, unknown> = {}): Promise<T> =>
  kernel.run(async (run) => {
    const methods = await run.call(Methods, {});
    return (await methods[method]?.(params, {} as never, run)) as T;
  });
const brief = ({ tools }: Explanation) =>
  tools.filter(({ state }) => state !== 'absent').map(({ tool, state, layer }) => `${tool} ${layer ?? state}`);

test('SPEC 3.6: every tool is told with the layer, rule and config path that removed it', async () => {
  await using at = await boot(here, { tools: { deny: ['write'] } }, [pay]);
  const answer = await call<Explanation>(at, 'policy.explain', { sender: 'unknown' });
  expect(answer.subject).toMatchObject({ agent: 'main', channel: 'chat', sender: 'unknown', depth: 0, sandboxed: false });
  expect(brief(answer)).toEqual(['read passed', 'write config', 'exec passed', 'cron owner', 'own_tool plugin']);
  const line = (tool: string) => answer.tools.find((one) => one.tool === tool);
  expect(line('write')).toMatchObject({ path: 'tools.deny[0]', place: 'tools.deny[0]', section: 'Files' });
  expect(line('exec')).toMatchObject({ judgedByCall: true });
  expect(line('own_tool')).toMatchObject({ rule: 'pay', section: 'Plugins' });
  expect(line('web_search')).toEqual({ tool: 'web_search', state: 'absent', section: 'Web', why: 'set tools.web.search' });
  expect(line('browser')).toMatchObject({ state: 'absent', why: 'no plugin that is live brings it' });
  expect(answer.tools).toHaveLength(29 + 2);
});

test('SPEC 3.6: what is left after each layer is told, in the order they ran', async () => {
  await using at = await boot(here, { tools: { deny: ['write'] } }, [pay]);
  const { layers } = await call<Explanation>(at, 'policy.explain', { sender: 'unknown', depth: 1, sandboxed: true, channel: 'node' });
  expect(layers).toEqual([
    { layer: 'plugin', removed: ['own_tool'], left: 4 },
    { layer: 'channel', removed: ['read', 'write', 'exec', 'cron'], left: 0 },
  ]);
});

test('a sender that is no class is an id of somebody unknown', async () => {
  await using at = await boot(here);
  const { subject } = await call<Explanation>(at, 'policy.explain', { sender: '4711', group: '-1' });
  expect(subject).toMatchObject({ sender: 'unknown', senderId: '4711', group: '-1', session: 'group' });
});

test.each([
  [{ sender: 'ownr' }, 400, /very like "owner"/],
  [{ agent: 'mian' }, 404, /did you mean "main"/],
  [{ depth: -1 }, 400, /"depth" must be/],
  [{ depth: '1' }, 400, /"depth" must be/],
  [{ sandboxed: 'yes' }, 400, /"sandboxed" must be/],
  [{ channel: 7 }, 400, /"channel" must be/],
  [{ session: 'subagnet' }, 400, /did you mean "subagent"/],
  [{ group: 'x'.repeat(600) }, 400, /"group" must be/],
])('policy.explain refuses %j', async (params, status, message) => {
  await using at = await boot(here);
  await expect(call(at, 'policy.explain', params)).rejects.toMatchObject({ status, message: expect.stringMatching(message) });
});

test('tools.list tells what is here, and what is not and why', async () => {
  await using at = await boot(here, {}, [pay]);
  const { here: live, absent } = await call<ToolList>(at, 'tools.list');
  expect(live.map(({ tool }) => tool)).toEqual(here);
  expect(absent).toContainEqual({ tool: 'pay', section: 'Plugins', why: 'set pay.key' });
});

test('tools.explain tells of each agent for whom a tool is there', async () => {
  await using at = await boot(here, { agents: { list: [{ id: 'a' }, { id: 'b', tools: { deny: ['cron'] } }] } });
  const { verdicts, description } = await call<ToolDetail>(at, 'tools.explain', { tool: 'cron' });
  expect(description).toBe('does cron');
  expect(verdicts.map(({ agent, when, line }) => [agent, when, line.layer ?? line.state])).toEqual([
    ['a', ['owner'], 'passed'],
    ['a', ['unknown sender'], 'owner'],
    ['a', ['sub-agent'], 'confinement'],
    ['a', ['sandboxed'], 'confinement'],
    ['b', ['owner', 'sub-agent', 'sandboxed'], 'config'],
    ['b', ['unknown sender'], 'owner'],
  ]);
  await expect(call(at, 'tools.explain', { tool: 'corn' })).rejects.toMatchObject({
    status: 404,
    message: expect.stringMatching('did you mean "cron"'),
  });
  expect(await call(at, 'tools.explain', { tool: 'tts' })).toMatchObject({ absent: 'no plugin that is live brings it', verdicts: [] });
});

const before = {
  tools: { deny: ['write'], sandbox: { tools: { deny: ['read'] } } },
  agents: { list: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] },
};
const diff = (at: TestKernel, candidate: unknown, params: object = {}) => call<Difference>(at, 'policy.diff', { candidate, ...params });

test('SPEC 15.5: a candidate is told by its effects, tool by tool for each agent', async () => {
  await using at = await boot(here, before, [pay]);
  const agents = { list: [{ id: 'a' }, { id: 'b', tools: { deny: ['exec', 'own_tool', 'write'] } }, { id: 'd' }] };
  const { lines, agents: which } = await diff(at, { tools: {}, agents });
  expect(lines.map(({ agent, tool, change, when, path }) => [agent, change, tool, when.length, path])).toEqual([
    ['a', 'gained', 'write', 4, 'tools.deny[0]'],
    ['a', 'gained', 'read', 1, 'tools.sandbox.tools.deny[0]'],
    ['b', 'lost', 'exec', 4, 'agents.list[1].tools.deny[0]'],
    ['b', 'gained', 'read', 1, 'tools.sandbox.tools.deny[0]'],
  ]);
  expect(which).toEqual({ added: ['d'], removed: ['c'], same: [] });
});

test('SPEC 15.5: the config that is live changes nothing, and one Subject may be asked for', async () => {
  await using at = await boot(here, before);
  expect(await diff(at, before)).toMatchObject({ lines: [], agents: { added: [], removed: [], same: ['a', 'b', 'c'] } });
  const { lines, compared } = await diff(at, { tools: {}, agents: before.agents }, { agent: 'b', sandboxed: true });
  expect([compared, lines.map(({ agent, tool }) => [agent, tool])]).toEqual([
    ['asked'],
    [
      ['b', 'read'],
      ['b', 'write'],
    ],
  ]);
});

test('SPEC 15.5: what a candidate says is what it does once it is live', async () => {
  const after = { tools: { profile: 'coding', deny: ['exec'] }, agents: { list: [{ id: 'a' }, { id: 'b', tools: { allow: ['read'] } }] } };
  await using at = await boot(here, before);
  await using then = await boot(here, after);
  const { lines } = await diff(at, after);
  for (const agent of ['a', 'b']) {
    const passed = async (of: TestKernel) => {
      const { tools } = await call<Explanation>(of, 'policy.explain', { agent });
      return tools.filter(({ state }) => state === 'passed').map(({ tool }) => tool);
    };
    const mine = lines.filter((line) => line.agent === agent && line.when.includes('owner'));
    const lost = mine.filter(({ change }) => change === 'lost').map(({ tool }) => tool);
    const gained = mine.filter(({ change }) => change === 'gained').map(({ tool }) => tool);
    const expected = [...(await passed(at)).filter((tool) => !lost.includes(tool)), ...gained];
    expect(expected.toSorted()).toEqual((await passed(then)).toSorted());
  }
});

test.each([
  [{ tools: { denny: [] } }, 'tools.denny: unknown key "denny"; did you mean "deny"?'],
  [{ tools: { deny: 'exec' } }, 'tools.deny: must be array'],
  [{ agents: { list: [{}] } }, 'agents.list[0]: an agent needs an id'],
  [
    { agents: { list: [{ id: 'a', tools: { byProvider: { 'p/m': { profil: 1 } } } }] } },
    'agents.list[0].tools.byProvider["p/m"].profil: unknown key "profil"; did you mean "profile"?',
  ],
  ['text', 'the candidate must be an object with "tools" and "agents"'],
])('policy.diff refuses the candidate %j', async (candidate, message) => {
  await using at = await boot(here);
  await expect(diff(at, candidate)).rejects.toMatchObject({ status: 400, code: 'POLICY_CANDIDATE', message });
});

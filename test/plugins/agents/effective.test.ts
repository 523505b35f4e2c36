import { expect, test } from 'vitest';
import type { Client, Method } from '../../../plugins/gateway/contract.ts';
import { Methods } from '../../../plugins/gateway/contract.ts';
import { type AgentShown, Agents, type ShownField, UsualFields } from '../../../plugins/agents/contract.ts';
import agents from '../../../plugins/agents/index.ts';
import { differencesOf } from '../../../plugins/agents/commands/diff.ts';
import models from '../../../plugins/models/index.ts';
import policy from '../../../plugins/policy/index.ts';
import sandbox from '../../../plugins/sandbox/index.ts';
import { bootTest, plugin } from '../../support/kernel.ts';
import { fakeModel } from '../../../plugins/testing/kit.ts';

async function shownOf(config: object, agentId: string, plugins = [agents, models, policy, sandbox, fakeModel([])]): Promise<AgentShown> {
  await using t = await bootTest(plugins, { agents: config });
  return await t.kernel.run(async (run) => {
    const { 'agents.show': show } = await run.call(Methods, {});
    return (await (show as Method)({ agentId }, {} as Client, run)) as AgentShown;
  });
}

const config = {
  defaults: {
    model: { primary: 'fake/fake', fallbacks: ['x/y'] },
    workspace: '/w',
    thinkingDefault: 'low',
    subagents: { maxSpawnDepth: 2, allowAgents: ['a'] },
    tools: { deny: ['exec'], profile: 'coding' },
    memorySearch: { remote: { apiKey: 'hush-hush' } },
  },
  list: [
    {
      id: 'a',
      name: 'Ada',
      model: { fallbacks: [] },
      skills: [],
      subagents: { allowAgents: [] },
      tools: { allow: ['read'] },
      fastModeDefault: false,
    },
    { id: 'b' },
  ],
};

test.for<readonly [string, string, unknown, Partial<ShownField> | undefined]>([
  ['a', 'model.primary', 'fake/fake', { origin: 'defaults', path: 'agents.defaults.model.primary' }],
  ['a', 'model.fallbacks', [], { origin: 'agent', path: 'agents.list[0].model.fallbacks' }],
  ['b', 'model.fallbacks', ['x/y'], { origin: 'defaults' }],
  ['a', 'name', 'Ada', { origin: 'agent', path: 'agents.list[0].name' }],
  ['b', 'name', 'b', { origin: 'built-in' }],
  ['a', 'workspace', '/w', { origin: 'defaults', path: 'agents.defaults.workspace' }],
  ['b', 'workspace', '/w-b', { origin: 'defaults', why: 'beside that of the default agent' }],
  ['a', 'skills', [], { origin: 'agent' }],
  ['a', 'fastModeDefault', false, { origin: 'agent' }],
  ['b', 'fastModeDefault', false, { origin: 'built-in' }],
  ['a', 'subagents.allowAgents', [], { origin: 'agent' }],
  ['a', 'subagents.maxSpawnDepth', 2, { origin: 'defaults', path: 'agents.defaults.subagents.maxSpawnDepth' }],
  ['a', 'subagents.requireAgentId', false, { origin: 'built-in' }],
  ['a', 'tools.allow', ['read'], { origin: 'agent' }],
  ['a', 'tools.deny', undefined, undefined],
  ['b', 'tools.deny', ['exec'], { origin: 'defaults' }],
  ['b', 'memorySearch.remote.apiKey', '[hidden]', { origin: 'defaults' }],
  ['a', 'sandbox.mode', 'off', { origin: 'built-in' }],
])('what counts for agent %s: %s is %j', async ([id, field, value, facts]) => {
  const { fields } = await shownOf(config, id);
  const found = fields.filter((one) => one.field === field);
  expect(found).toMatchObject(facts ? [{ field, value, ...facts }] : []);
});

test('what is shown is what those who ask get', async () => {
  await using t = await bootTest([agents, models, policy, fakeModel([])], { agents: config });
  const asked = ['thinkingDefault', 'skills', 'subagents.allowAgents', 'subagents.maxSpawnDepth', 'fastModeDefault', 'tools.allow'];
  for (const id of ['a', 'b']) {
    const { fields } = await shownOf(config, id);
    const set = (field: string) => fields.find((one) => one.field === field && one.origin !== 'built-in')?.value;
    await t.kernel.run((run) => expect(asked.map(set)).toEqual(asked.map((field) => run.get(Agents).field(id, field))));
  }
});

test('where no model is named, the choice of the moment is shown with its reason; a plugin’s own field with its built-in value', async () => {
  const extra = plugin('extra', (ctx) => ctx.tap(UsualFields, (usual) => ({ ...usual, 'extra.pace': 'slow' })));
  const { fields, isDefault } = await shownOf({}, 'main', [agents, models, fakeModel([]), extra]);
  expect(isDefault).toBe(true);
  expect(fields.find(({ field }) => field === 'model.primary')).toMatchObject({
    value: 'fake/fake',
    origin: 'built-in',
    why: expect.any(String),
  });
  expect(fields.find(({ field }) => field === 'extra.pace')).toEqual({ field: 'extra.pace', value: 'slow', origin: 'built-in' });
});

test('an agent that is not there is refused with the nearest', async () => {
  await expect(shownOf({ list: [{ id: 'coder' }] }, 'codr')).rejects.toMatchObject({
    code: 'AGENT_UNKNOWN',
    message: 'there is no agent "codr"; did you mean "coder"?',
  });
  expect((await shownOf({ list: [{ id: 'Coder' }] }, 'coder')).id).toBe('Coder');
});

test('two agents are compared by what counts for them', async () => {
  const [a, b] = [await shownOf(config, 'a'), await shownOf(config, 'b')];
  const fields = differencesOf(a, b).map(({ field }) => field);
  expect(fields).toEqual(expect.arrayContaining(['name', 'workspace', 'model.fallbacks', 'skills', 'tools.allow', 'tools.deny']));
  expect(fields).not.toEqual(expect.arrayContaining(['model.primary']));
  expect(differencesOf(a, a)).toEqual([]);
});

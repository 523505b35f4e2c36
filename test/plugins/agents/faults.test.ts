import { homedir } from 'node:os';
import { expect, test } from 'vitest';
import { agentFaults } from '../../../plugins/agents/faults.ts';
import agents from '../../../plugins/agents/index.ts';
import models from '../../../plugins/models/index.ts';
import sandbox from '../../../plugins/sandbox/index.ts';
import { bootTest, testKernel } from '../../support/kernel.ts';

const found = (config: unknown) => agentFaults(config, { home: '/h', place: (path) => `@${path}` });

test.for<readonly [string, unknown, readonly (readonly [string, RegExp])[]]>([
  ['nothing', {}, []],
  [
    'sound agents',
    {
      list: [
        { id: 'a', subagents: { allowAgents: ['B', 'a'] } },
        { id: 'b', subagents: { allowAgents: ['*'] } },
      ],
    },
    [],
  ],
  ['an id twice', { list: [{ id: 'a' }, { id: 'a' }] }, [['agents.list[1].id', /"a" is there already at @agents\.list\[0\]\.id; /]]],
  [
    'U017: ids that differ by case',
    { list: [{ id: 'Ops' }, { id: 'x' }, { id: 'ops' }] },
    [['agents.list[2].id', /"ops" is there already at @agents\.list\[0\]\.id as "Ops"/]],
  ],
  [
    'an id three times',
    { list: [{ id: 'a' }, { id: 'a' }, { id: 'a' }] },
    [
      ['agents.list[1].id', /@agents\.list\[0\]/],
      ['agents.list[2].id', /@agents\.list\[0\]/],
    ],
  ],
  [
    'one folder, written in two ways',
    {
      list: [
        { id: 'a', agentDir: '~/x' },
        { id: 'b', agentDir: `${homedir()}/y/../x/` },
      ],
    },
    [['agents.list[1].agentDir', /is the folder of agent "a" \(@agents\.list\[0\]\.agentDir\) already/]],
  ],
  [
    'the folder that another has by its id',
    { list: [{ id: 'a', agentDir: '/h/agents/b' }, { id: 'b' }] },
    [['agents.list[0].agentDir', /is the folder of agent "b" \(@agents\.list\[1\]\.id\) already/]],
  ],
  ['its own usual folder', { list: [{ id: 'a', agentDir: '/h/agents/a' }, { id: 'b' }] }, []],
  [
    'sub-agents that nobody is',
    { defaults: { subagents: { allowAgents: ['zzz'] } }, list: [{ id: 'coder', subagents: { allowAgents: ['codre'] } }] },
    [
      ['agents.defaults.subagents.allowAgents[0]', /no agent "zzz"; there are coder; "\*" is any/],
      ['agents.list[0].subagents.allowAgents[0]', /no agent "codre"; did you mean "coder" \(@agents\.list\[0\]\.id\)\?/],
    ],
  ],
  ['the agent that is there without a list', { defaults: { subagents: { allowAgents: ['main'] } } }, []],
  [
    'a prompt and a limit on an agent',
    { defaults: { maxTokens: 1 }, list: [{ id: 'a', systemPrompt: 'x' }] },
    [
      ['agents.defaults.maxTokens', /params: \{ maxTokens/],
      ['agents.list[0].systemPrompt', /SOUL\.md.*AGENTS\.md/],
    ],
  ],
  [
    'a heartbeat that is no time',
    { list: [{ id: 'a', heartbeat: { every: 'soon' } }] },
    [['agents.list[0].heartbeat.every', /"soon" is no duration/]],
  ],
  ['values of another form', { defaults: 3, list: [null, 'x', { id: 4, subagents: [], heartbeat: 1, agentDir: {} }, {}] }, []],
  ['no object at all', [], []],
  [
    'several at once',
    {
      list: [
        { id: 'a', agentDir: '/x' },
        { id: 'a', agentDir: '/x', subagents: { allowAgents: ['q'] } },
      ],
    },
    [
      ['agents.list[1].id', /already/],
      ['agents.list[1].agentDir', /already/],
      ['agents.list[1].subagents.allowAgents[0]', /no agent "q"/],
    ],
  ],
])('SPEC 1.3: faults of %s', ([, config, expected]) => {
  const faults = found(config);
  expect(faults.map(({ path }) => path)).toEqual(expected.map(([path]) => path));
  faults.forEach(({ message }, i) => expect(message).toMatch(expected[i]?.[1] ?? /^$/));
});

test('SPEC 1.6: of these only a shared folder and a bad duration stop a lenient config', () => {
  const faults = found({
    list: [
      { id: 'a', agentDir: '/x', systemPrompt: '' },
      { id: 'A', agentDir: '/x', heartbeat: { every: '?' } },
    ],
  });
  expect(faults.filter(({ isTolerated }) => !isTolerated).map(({ path }) => path)).toEqual([
    'agents.list[1].agentDir',
    'agents.list[1].heartbeat.every',
  ]);
});

test('SPEC 1.3: they are told all at once, a line each, and reject the edit', async () => {
  await using t = await bootTest([agents], { agents: { list: [{ id: 'x' }] } });
  const edit = { agents: { list: [{ id: 'a', systemPrompt: 'be nice' }, { id: 'a' }] } };
  await expect(t.apply([agents], edit)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(/^agents\.list\[1\]\.id: .*\nagents\.list\[0\]\.systemPrompt: .*SOUL\.md/),
  });
  expect(t.kernel.inspect().generation).toBe(1);
});

test('SPEC 1.3: an unknown key is named with its place and the nearest one', async () => {
  await using t = await testKernel();
  await expect(t.apply([agents, models], { agents: { list: [{ id: 'a', thinkingDefalt: 'low' }] } })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    problems: [{ path: 'agents.list[0].thinkingDefalt', nearest: 'thinkingDefault' }],
  });
});

test.for<readonly [string, object]>([
  ['agents.list[0].sandbox.mode', { sandbox: { mode: 'on' } }],
  ['agents.list[0].sandbox.scop', { sandbox: { scop: 'agent' } }],
  ['agents.list[0].runtime.acp.mode', { runtime: { type: 'acp', acp: { mode: 'twice' } } }],
  ['agents.list[0].humanDelay.minMs', { humanDelay: { mode: 'custom', minMs: -1 } }],
  ['agents.list[0].subagents.maxSpawnDepth', { subagents: { maxSpawnDepth: 'two' } }],
  ['agents.list[0].heartbeat.every', { heartbeat: { every: true } }],
  ['agents.list[0].params.temperature', { params: { temperature: 'hot' } }],
  ['agents.list[0].params.topP', { params: { topP: 1 } }],
  ['agents.list[0].identity.nam', { identity: { nam: 'Ada' } }],
  ['agents.list[0].thinkingDefault', { thinkingDefault: 'lots' }],
])('SPEC 1.1: a wrong type, enum or key inside a field is named: %s', async ([path, fields]) => {
  await using t = await testKernel();
  await expect(t.apply([agents, models, sandbox], { agents: { list: [{ id: 'a', ...fields }] } })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    problems: [{ path }],
  });
});

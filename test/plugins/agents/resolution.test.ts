import { homedir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { type AgentEntry, type AgentsConfig, durationMs, modelChain, usualIn } from '../../../plugins/agents/contract.ts';
import {
  listAgentIds,
  resolveAgentConfig,
  resolveAgents,
  resolveDefaultAgentId,
  resolveSessionAgentIds,
} from '../../../plugins/agents/resolution.ts';

const list = (...entries: readonly AgentEntry[]): AgentsConfig => ({ list: entries });

test.for<readonly [string, AgentsConfig, readonly string[], string]>([
  ['no config', {}, ['main'], 'main'],
  ['an empty list', list(), ['main'], 'main'],
  ['defaults alone', { defaults: { model: 'p/m' } }, ['main'], 'main'],
  ['one agent', list({ id: 'a' }), ['a'], 'a'],
  ['none marked', list({ id: 'a' }, { id: 'b' }), ['a', 'b'], 'a'],
  ['one marked', list({ id: 'a' }, { id: 'b', default: true }), ['a', 'b'], 'b'],
  ['two marked', list({ id: 'a' }, { id: 'b', default: true }, { id: 'c', default: true }), ['a', 'b', 'c'], 'b'],
  ['marked as not', list({ id: 'a', default: false }, { id: 'b' }), ['a', 'b'], 'a'],
  ['one id twice', list({ id: 'a', name: 'first' }, { id: 'A', default: true }), ['a'], 'a'],
])('SPEC 1.2: listAgentIds and resolveDefaultAgentId of %s', ([, config, ids, defaultId]) => {
  expect(listAgentIds(config)).toEqual(ids);
  expect(resolveDefaultAgentId(config)).toBe(defaultId);
});

test.for<readonly [string, Parameters<typeof resolveSessionAgentIds>[1], string]>([
  ['nothing', {}, 'a'],
  ['an explicit id', { agentId: 'b' }, 'b'],
  ['an explicit id before the key’s', { agentId: 'b', sessionKey: 'agent:a:main' }, 'b'],
  ['an id in another case', { agentId: ' B ' }, 'b'],
  ['an empty id', { agentId: '', sessionKey: 'agent:b:main' }, 'b'],
  ['a key', { sessionKey: 'agent:b:telegram:direct:7' }, 'b'],
  ['a key without an agent', { sessionKey: 'main' }, 'a'],
  ['an id that no agent has', { agentId: 'gone' }, 'gone'],
  ['a key of an agent that is gone', { sessionKey: 'agent:gone:main' }, 'gone'],
])('SPEC 1.2: resolveSessionAgentIds by %s', ([, query, sessionAgentId]) => {
  expect(resolveSessionAgentIds(list({ id: 'a' }, { id: 'b' }), query)).toEqual({ defaultAgentId: 'a', sessionAgentId });
});

describe('SPEC 1.2: resolveAgentConfig', () => {
  const config: AgentsConfig = { defaults: { thinkingDefault: 'low' }, list: [{ id: 'a', skills: [] }] };
  test('gives only the agent’s own fields', () => expect(resolveAgentConfig(config, 'a')).toEqual({ id: 'a', skills: [] }));
  test('gives undefined where there is no such agent', () => expect(resolveAgentConfig(config, 'b')).toBeUndefined());
});

const fields: AgentsConfig = {
  defaults: {
    fastModeDefault: true,
    skills: ['x'],
    thinkingDefault: 'low',
    subagents: { maxSpawnDepth: 3, allowAgents: ['b'], model: 'p/m' },
  },
  list: [{ id: 'a', fastModeDefault: false, skills: [], subagents: { maxSpawnDepth: 0, allowAgents: [] } }, { id: 'b' }],
};
test.for<readonly [string, string, unknown]>([
  ['a', 'fastModeDefault', false],
  ['a', 'skills', []],
  ['a', 'thinkingDefault', 'low'],
  ['a', 'humanDelay', undefined],
  ['a', 'subagents.maxSpawnDepth', 0],
  ['a', 'subagents.allowAgents', []],
  ['a', 'subagents.model', 'p/m'],
  ['a', 'subagents.model.primary', undefined],
  ['a', 'skills.length', undefined],
  ['a', 'constructor', undefined],
  ['b', 'subagents.maxSpawnDepth', 3],
  ['nobody', 'skills', ['x']],
])('SPEC 1.2: defaults fill field by field; false, 0 and [] are own values: %s %s', ([id, field, value]) => {
  expect(resolveAgents(fields, '/h').field(id, field)).toEqual(value);
});

const chain = { primary: 'd/1', fallbacks: ['d/2'] };
test.for<readonly [string, AgentEntry['model'] | undefined, unknown, unknown]>([
  ['nothing anywhere', undefined, undefined, { fallbacks: [] }],
  ['the defaults’ chain', undefined, chain, chain],
  ['a model of its own, and the defaults’ fallbacks', 'o/1', chain, { primary: 'o/1', fallbacks: ['d/2'] }],
  ['an empty chain of its own', { primary: 'o/1', fallbacks: [] }, chain, { primary: 'o/1', fallbacks: [] }],
  ['an empty chain without a model', { fallbacks: [] }, chain, { primary: 'd/1', fallbacks: [] }],
  ['a chain of its own', { fallbacks: ['o/2'] }, 'd/1', { primary: 'd/1', fallbacks: ['o/2'] }],
])('SPEC 1.2: fallbacks given explicitly replace the default chain: %s', ([, own, usual, expected]) => {
  const agents = resolveAgents({ defaults: { model: usual }, list: [{ id: 'a', ...(own && { model: own }) }] }, '/h');
  expect(modelChain(agents, 'a')).toEqual(expected);
});

test('SPEC 1.4: ~ is the home of the user; further agents work beside the default one', () => {
  const some = resolveAgents(
    { defaults: { workspace: '~/w' }, ...list({ id: 'a' }, { id: 'b' }, { id: 'c', workspace: '/c', agentDir: '~' }) },
    '/h',
  );
  expect(['a', 'b', 'c'].map((id) => some.workspace(id))).toEqual([`${homedir()}/w`, `${homedir()}/w-b`, '/c']);
  expect(['a', 'c'].map((id) => some.dir(id))).toEqual(['/h/agents/a', homedir()]);
});

test.for<readonly [unknown, number | undefined]>([
  ['90s', 90_000],
  ['1h30m', 5_400_000],
  ['1 h 30 m', 5_400_000],
  ['0.5h', 1_800_000],
  ['250ms', 250],
  ['2D', 172_800_000],
  [30, 1_800_000],
  ['30', 1_800_000],
  [0, 0],
  ['0m', 0],
  [-1, undefined],
  [Number.NaN, undefined],
  ['', undefined],
  ['soon', undefined],
  ['5 bananas', undefined],
  ['30m later', undefined],
  [undefined, undefined],
])('SPEC 1.4: %j is a duration of %j ms; a bare number is minutes', ([value, ms]) => {
  expect(durationMs(value)).toBe(ms);
});

test('built-in values are read from the schemas of the fields, nested ones by their path', () => {
  const own = { mode: { enum: ['off'], 'x-default': 'off' }, deep: { properties: { n: { 'x-default': 0 } } }, none: {} };
  expect(usualIn({ own: { properties: own } })).toEqual({ 'own.mode': 'off', 'own.deep.n': 0 });
});

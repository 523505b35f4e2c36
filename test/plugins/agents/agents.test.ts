import { homedir } from 'node:os';
import { expect, test } from 'vitest';
import { Agents } from '../../../plugins/agents/contract.ts';
import agents from '../../../plugins/agents/index.ts';
import { resolveAgents } from '../../../plugins/agents/resolution.ts';
import { bootTest, testKernel } from '../../support/kernel.ts';

const home = { home: '/h' };

test('SPEC 1.2: the default is the first with default: true, else the first, else main', () => {
  expect(resolveAgents([{ id: 'a' }, { id: 'b', default: true }, { id: 'c', default: true }], {}, home).defaultId).toBe('b');
  expect(resolveAgents([{ id: 'a' }, { id: 'b' }], {}, home).defaultId).toBe('a');
  expect(resolveAgents([], {}, home).ids).toEqual(['main']);
});

test('SPEC 1.2: the agent of a session is the explicit one, else the key’s, else the default', () => {
  const two = resolveAgents([{ id: 'a' }, { id: 'b' }], {}, home);
  expect(two.sessionAgent({ agentId: 'b', sessionKey: 'agent:a:x' })).toBe('b');
  expect(two.sessionAgent({ sessionKey: 'agent:b:x' })).toBe('b');
  expect(two.sessionAgent({ sessionKey: 'agent:nobody:x' })).toBe('a');
  expect(two.sessionAgent({})).toBe('a');
});

test('SPEC 1.2: defaults fill by nullish fallback: false, 0 and [] are own values', () => {
  const one = resolveAgents(
    [{ id: 'a', fastModeDefault: false, skills: [] }],
    { fastModeDefault: true, skills: ['x'], thinkingDefault: 'low' },
    home,
  );
  expect(['fastModeDefault', 'skills', 'thinkingDefault', 'model'].map((f) => one.field('a', f))).toEqual([false, [], 'low', undefined]);
  expect(one.own('b')).toBeUndefined();
});

test('SPEC 1.4: ~ is the home of the user; further agents work beside the default one', () => {
  const some = resolveAgents([{ id: 'a' }, { id: 'b' }, { id: 'c', workspace: '/c' }], { workspace: '~/w' }, home);
  expect(['a', 'b', 'c'].map((id) => some.workspace(id))).toEqual([`${homedir()}/w`, `${homedir()}/w-b`, '/c']);
  expect(resolveAgents([], {}, home).dir('main')).toBe('/h/agents/main');
});

test('SPEC 1.3: an agent id that is there twice is an error that names both places', async () => {
  await using t = await testKernel();
  await expect(t.apply([agents], { agents: { list: [{ id: 'a' }, { id: 'a' }] } })).rejects.toMatchObject({
    facts: { cause: { code: 'AGENT_DUPLICATE', message: expect.stringMatching(/agents\.list\[1\]\.id.*agents\.list\[0\]\.id/) } },
  });
});

test('SPEC 1.3: an unknown key is named with its place and the nearest one', async () => {
  await using t = await testKernel();
  await expect(t.apply([agents], { agents: { list: [{ id: 'a', modle: 'x' }] } })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    problems: [{ path: 'agents.list[0].modle', nearest: 'model' }],
  });
});

test('agents are resolved from the config', async () => {
  await using t = await bootTest([agents], { agents: { list: [{ id: 'x', model: 'p/m' }] } });
  await t.kernel.run((run) => expect(run.get(Agents).field('x', 'model')).toBe('p/m'));
});

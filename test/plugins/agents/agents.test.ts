import { expect, test } from 'vitest';
import { Agents } from '../../../plugins/agents/contract.ts';
import agents from '../../../plugins/agents/index.ts';
import { schema } from '../../../plugins/agents/schema.ts';
import { bootTest } from '../../support/kernel.ts';

test('agents are resolved from the config', async () => {
  await using t = await bootTest([agents], { agents: { list: [{ id: 'x', skills: ['low'] }] } });
  await t.kernel.run((run) => expect(run.get(Agents).field('x', 'skills')).toEqual(['low']));
});

test('SPEC 1.1: every field says what it is, and no field is filled in at the agent, where the defaults would then never count', () => {
  const odd: string[] = [];
  const walk = (node: Readonly<Record<string, unknown>>, path: string) => {
    for (const [key, inner] of Object.entries((node['properties'] ?? {}) as Record<string, Readonly<Record<string, unknown>>>)) {
      if (!inner['description'] && !inner['enum']) odd.push(`${path}.${key} has no description`);
      if ('default' in inner) odd.push(`${path}.${key} has a default`);
      walk(inner, `${path}.${key}`);
      if (inner['items']) walk(inner['items'] as Readonly<Record<string, unknown>>, `${path}.${key}[]`);
    }
  };
  walk(schema, 'agents');
  expect(odd).toEqual([]);
});

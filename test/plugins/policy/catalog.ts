import { definePlugin, RegisterTools, type Subject, text, type Tool } from '../../../kernel/index.ts';
import agents from '../../../plugins/agents/index.ts';
import policy from '../../../plugins/policy/index.ts';
import type { Plugin } from '../../../kernel/index.ts';
import { bootTest, type TestKernel, type TestOptions } from '../../support/kernel.ts';

export const toolOf = (name: string, facts: Partial<Tool> = {}): Tool => ({
  name,
  description: `does ${name}`,
  parameters: { type: 'object' },
  execute: () => text('ran'),
  ...facts,
});

/** A plugin with tools that do nothing. `mine` is marked for owners alone. */
export const withTools = (names: readonly string[]) =>
  definePlugin({
    name: 'tools',
    description: 'test',
    setup: (ctx) =>
      ctx.tap(RegisterTools, (all) => [...all, ...names.map((name) => toolOf(name, name === 'mine' ? { ownerOnly: true } : {}))]),
  });

export const boot = (
  names: readonly string[],
  config: object = {},
  more: readonly Plugin[] = [],
  options: TestOptions = {},
): Promise<TestKernel> => bootTest([agents, withTools(names), policy, ...more], { ...config }, options);

/** The tools that are left, and what is told of the others. */
export async function offered(at: TestKernel, subject: Subject) {
  const { tools, removed } = await at.kernel.run((run) => run.tools(), { subject });
  return { left: tools.map(({ name }) => name), removed };
}

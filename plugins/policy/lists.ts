import { joinKey } from '../../kernel/index.ts';
import type { Agents } from '../agents/contract.ts';
import type { Placed, ToolConfig, ToolRules } from './rules.ts';

/** One list of tool names in the config. */
export interface List {
  readonly path: string;
  readonly patterns: readonly string[];
  /** Restricts: what it does not name is gone. */
  readonly isAllow: boolean;
}

/** Every place in the config that has rules about tools. */
export function placesOf(agents: Pick<Agents, 'ids' | 'own' | 'defaults' | 'path'> | undefined, config: ToolConfig): readonly Placed[] {
  const own = (agents?.ids ?? []).flatMap((id) => placed(agents?.own(id)?.['tools'], `${agents?.path(id)}.tools`));
  return [{ path: 'tools', rules: config }, ...placed(agents?.defaults['tools'], 'agents.defaults.tools'), ...own];
}

const placed = (rules: unknown, path: string): readonly Placed[] => (typeof rules === 'object' && rules !== null ? [{ path, rules }] : []);

export function listsOf({ path, rules }: Placed): readonly List[] {
  const { byProvider = {}, sandbox, subagents } = rules;
  return [
    ...lists(path, rules),
    ...Object.entries(byProvider).flatMap(([key, inner]) => lists(joinKey(`${path}.byProvider`, key), inner)),
    ...lists(`${path}.sandbox.tools`, sandbox?.tools),
    ...lists(`${path}.subagents.tools`, subagents?.tools),
  ];
}

const lists = (path: string, rules: ToolRules = {}): readonly List[] =>
  (['allow', 'alsoAllow', 'deny'] as const).flatMap((key) => {
    const patterns = rules[key];
    return patterns ? [{ path: `${path}.${key}`, patterns, isAllow: key === 'allow' }] : [];
  });

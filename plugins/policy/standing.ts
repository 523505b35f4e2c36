import type { Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { GroupTools, NativeSearch, SearchAnyway } from './contract.ts';
import type { Placed, Ruling, Standing, ToolConfig } from './rules.ts';

/** By run, so that one filtering and one explanation look everything up once. */
const standings = new WeakMap<Run, Promise<Standing>>();

/** Whom this run's tools are judged for, by the config of its generation. */
export function standingOf(run: Run, tools: ToolConfig): Promise<Standing> {
  let standing = standings.get(run);
  if (!standing) standings.set(run, (standing = made(run, tools)));
  return standing;
}

async function made(run: Run, tools: ToolConfig): Promise<Standing> {
  const { subject } = run;
  const [native, group] = [run.find(SearchAnyway) ? undefined : await run.call(NativeSearch, subject), await run.call(GroupTools, subject)];
  return { subject, ruling: rulingOf(run, tools), native, group };
}

export const rulingOf = (run: Run, tools: ToolConfig): Ruling => ({
  tools: { path: 'tools', rules: tools },
  agent: (id) => agentRules(run, id),
  maxSpawnDepth(id) {
    const agents = run.find(Agents);
    const field = 'subagents.maxSpawnDepth';
    const own = (agents?.own(id)?.['subagents'] as { readonly maxSpawnDepth?: unknown } | undefined)?.maxSpawnDepth;
    const path = own === undefined ? `agents.defaults.${field}` : `${agents?.path(id)}.${field}`;
    return { depth: agents?.field<number>(id, field) ?? 1, path };
  },
});

function agentRules(run: Run, id: string): Placed | undefined {
  const agents = run.find(Agents);
  const rules = agents?.field<ToolConfig>(id, 'tools');
  if (!agents || !rules) return undefined;
  const isOwn = agents.own(id)?.['tools'] !== undefined;
  return { path: isOwn ? `${agents.path(id)}.tools` : 'agents.defaults.tools', rules };
}

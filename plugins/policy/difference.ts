import { RegisterTools, type Run, type Subject, type Tool } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { type Candidate, candidateOf } from './candidate.ts';
import { type Difference, type DifferenceLine, type Member, NativeSearch } from './contract.ts';
import { refusalOf } from './layers.ts';
import { isOurs } from './removal.ts';
import { namedModel, usualModel } from './subject.ts';

type Whom = Subject & Member;
type Change = Omit<DifferenceLine, 'agent' | 'when'>;

/** What a candidate would change, for those of `compared` (by what they are called) of each agent. */
export async function differenceOf(
  run: Run,
  values: unknown,
  compared: Readonly<Record<string, Whom>>,
  only: string | undefined,
): Promise<Difference> {
  const candidate = await candidateOf(values, run);
  const { ids } = run.get(Agents);
  const has = (all: readonly string[], id: string) => all.some((one) => one.toLowerCase() === id.toLowerCase());
  const both = ids.filter((id) => has(candidate.ids, id) && (only === undefined || id === only));
  const lines: DifferenceLine[] = [];
  for (const agent of both) {
    const changes = Object.entries(compared).map(async ([when, whom]) => ({
      when,
      changes: await changesFor(run, candidate, agent, whom),
    }));
    lines.push(...merged(agent, await Promise.all(changes)));
  }
  return {
    generation: run.generation,
    compared: Object.keys(compared),
    lines,
    agents: {
      added: candidate.ids.filter((id) => !has(ids, id)),
      removed: ids.filter((id) => !has(candidate.ids, id)),
      same: both.filter((id) => !lines.some(({ agent }) => agent === id)),
    },
  };
}

/** The live side is the offer itself; what other plugins' filters take away, they take away from the candidate too. */
async function changesFor(run: Run, candidate: Candidate, agent: string, whom: Whom): Promise<readonly Change[]> {
  const usual = await usualModel(run, agent);
  const live = run.as({ subject: { ...usual, ...whom, agent } });
  // Where neither names a model, the same one is chosen.
  const isNamed = [candidate.agents, run.get(Agents)].some((agents) => namedModel(agents, agent).provider !== undefined);
  const then = { ...(isNamed ? namedModel(candidate.agents, agent) : usual), ...whom, agent };
  const [offer, tools] = [await live.tools(), unique(await live.call(RegisterTools, []))];
  const native = await live.call(NativeSearch, then);
  const standing = { subject: then, ruling: candidate.ruling, native, group: candidate.group(then) };
  return tools.flatMap((tool): readonly Change[] => {
    const now = offer.removed.find((removal) => removal.tool === tool.name);
    if (now && !isOurs(now)) return [];
    const refusal = refusalOf(tool, standing);
    if (!now === !refusal) return [];
    const { why, layer, path } = refusal ?? now ?? {};
    const change = refusal ? 'lost' : 'gained';
    return [{ tool: tool.name, change, why: why ?? '', ...(layer && { layer }), ...(path !== undefined && { path }) }];
  });
}

const unique = (tools: readonly Tool[]) => [...new Map(tools.toReversed().map((tool) => [tool.name, tool])).values()].toReversed();

/** What is the same for several is one line. */
function merged(agent: string, all: readonly { readonly when: string; readonly changes: readonly Change[] }[]): readonly DifferenceLine[] {
  const lines = new Map<string, DifferenceLine>();
  for (const { when, changes } of all) {
    for (const change of changes) {
      const key = JSON.stringify([change.tool, change.change, change.why]);
      lines.set(key, { ...change, agent, when: [...(lines.get(key)?.when ?? []), when] });
    }
  }
  return [...lines.values()];
}

import { nearest, RegisterTools, type Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { type Method, refusal } from '../gateway/contract.ts';
import type { ToolDetail, ToolList, Verdicts } from './contract.ts';
import { differenceOf } from './difference.ts';
import { absentLines, explain, linesOf, rankOf, sectionOf } from './explanation.ts';
import type { ToolConfig } from './rules.ts';
import { agentOf, audience, subjectOf, usualModel, whomOf, wordOf } from './subject.ts';

/**
 * - `policy.explain {agent?, channel?, sender?, senderId?, model?, group?, session?, depth?, sandboxed?}` → `Explanation`
 * - `policy.diff {candidate, …the same}` → `Difference`; without a sender, channel and so on: for everybody of the usual audience
 * - `tools.list {}` → `ToolList` · `tools.explain {tool}` → `ToolDetail`
 */
export const methodsFor = (config: ToolConfig): Readonly<Record<string, Method>> => ({
  'policy.explain': async (params, _client, run) => explain(run.as({ subject: await subjectOf(params, run) }), config),
  'policy.diff': (params, _client, run) => {
    const { candidate, agent, ...whom } = params;
    const only = agent === undefined ? undefined : agentOf({ agent }, run);
    const isNamed = Object.values(whom).some((value) => value !== undefined);
    return differenceOf(run, candidate, isNamed ? { asked: whomOf(whom) } : audience, only);
  },
  'tools.list': (_params, _client, run) => listed(run),
  'tools.explain': (params, _client, run) => detailed(params, run),
});

/** As tools are registered, before any policy. */
async function listed(run: Run): Promise<ToolList> {
  const tools = await registered(run);
  const lines = [...tools.values()].map((tool) => ({
    tool: tool.name,
    section: sectionOf(tool.name, tool),
    description: tool.description,
  }));
  const here = lines.toSorted((a, b) => rankOf(a.tool) - rankOf(b.tool));
  return { here, absent: (await absentLines(run, tools)).map(({ tool, section, why = '' }) => ({ tool, section, why })) };
}

async function detailed(params: Parameters<Method>[0], run: Run): Promise<ToolDetail> {
  const name = wordOf(params, 'tool');
  if (name === undefined) throw refusal(400, 'POLICY_PARAMS', '"tool" is missing');
  const tools = await registered(run);
  const tool = tools.get(name);
  if (tool) return { tool: name, section: sectionOf(name, tool), description: tool.description, verdicts: await verdictsOf(name, run) };
  const absent = await absentLines(run, tools);
  const missing = absent.find((one) => one.tool === name);
  if (missing) return { tool: name, section: missing.section, absent: missing.why ?? '', verdicts: [] };
  const near = nearest(name, [...tools.keys(), ...absent.map((one) => one.tool)]);
  throw refusal(404, 'POLICY_TOOL', `nobody knows a tool "${name}"${near ? `; did you mean "${near}"?` : ''}`);
}

/** Of every agent, for everybody of the usual audience; what is the same for several is one. */
async function verdictsOf(tool: string, run: Run): Promise<readonly Verdicts[]> {
  const agents = run.get(Agents);
  const found = new Map<string, Verdicts>();
  for (const agent of agents.ids) {
    const model = await usualModel(run, agent);
    for (const [when, whom] of Object.entries(audience)) {
      const { tools } = await linesOf(run.as({ subject: { ...whom, agent, ...model } }));
      const line = tools.find((one) => one.tool === tool);
      if (!line) continue;
      const key = JSON.stringify([agent, line]);
      found.set(key, { agent, line, when: [...(found.get(key)?.when ?? []), when] });
    }
  }
  const all = Object.keys(audience).length;
  return [...found.values()].map((one) => (one.when.length === all ? { ...one, when: ['everybody'] } : one));
}

/** Of whom it is asked for does not matter to today's tools; a plugin may register by Subject. */
async function registered(run: Run) {
  const agent = run.find(Agents)?.defaultId;
  const asked = run.as({ subject: { ...audience['owner'], ...(agent !== undefined && { agent }) } });
  const latestFirst = (await asked.call(RegisterTools, [])).toReversed(); // of one name, the first registered stays
  return new Map([...new Map(latestFirst.map((tool) => [tool.name, tool] as const))].toReversed());
}

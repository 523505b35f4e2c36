import { Host, RegisterTools, type Removal, type Run, type Tool } from '../../kernel/index.ts';
import { type Explanation, type LayerId, type LayerLine, type ToolLine, ToolAbsences } from './contract.ts';
import { findingsOf } from './findings.ts';
import { catalog, catalogTools } from './groups.ts';
import { isOurs } from './removal.ts';
import type { ToolConfig } from './rules.ts';

/** Of the very offer that turns of this run's Subject get. */
export async function explain(run: Run, config: ToolConfig): Promise<Explanation> {
  const findings = await findingsOf(run, config);
  return { subject: run.subject, generation: run.generation, ...(await linesOf(run)), findings };
}

/** Every tool that is known, in the order of the catalog, then plugins'. */
export async function linesOf(run: Run): Promise<{ readonly tools: readonly ToolLine[]; readonly layers: readonly LayerLine[] }> {
  const [offer, registered] = [await run.tools(), await run.call(RegisterTools, [])];
  const byName = new Map(registered.map((tool) => [tool.name, tool]));
  const passed = offer.tools.map(({ name }) => passedLine(name, byName.get(name)));
  const removed = offer.removed.map((removal) => removedLine(removal, run, byName.get(removal.tool)));
  const tools = [...passed, ...removed, ...(await absentLines(run, byName))].toSorted((a, b) => rankOf(a.tool) - rankOf(b.tool));
  return { tools, layers: layerLines(offer.tools.length, offer.removed) };
}

function passedLine(tool: string, facts: Tool | undefined): ToolLine {
  return { tool, state: 'passed', section: sectionOf(tool, facts), ...(tool === 'exec' && { judgedByCall: true }) };
}

function removedLine(removal: Removal, run: Run, facts: Tool | undefined): ToolLine {
  const { tool, why, rule } = removal;
  const line = { tool, state: 'removed', section: sectionOf(tool, facts), why, rule } as const;
  if (!isOurs(removal)) return { ...line, layer: 'plugin' };
  const { layer, path } = removal;
  if (path === undefined) return { ...line, layer };
  const place = run.get(Host).place(path);
  return { ...line, layer, rule: place, path, place };
}

/** SPEC 2.1: what cannot work here, with the reason of the plugin that would bring it. */
export async function absentLines(run: Run, here: { has(tool: string): boolean }): Promise<readonly ToolLine[]> {
  const told = new Map((await run.call(ToolAbsences, [])).map(({ tool, why }) => [tool, why]));
  const missing = [...new Set([...catalogTools, ...told.keys()])].filter((tool) => !here.has(tool));
  const usual = 'no plugin that is live brings it';
  return missing.map((tool) => ({ tool, state: 'absent', section: sectionOf(tool), why: told.get(tool) ?? usual }));
}

/** Layers that removed something, as they ran; what each left. */
function layerLines(passed: number, removed: readonly Removal[]): readonly LayerLine[] {
  const runs: { layer: LayerId; removed: string[] }[] = [];
  for (const removal of removed) {
    const layer = isOurs(removal) ? removal.layer : 'plugin';
    const last = runs.at(-1);
    if (last?.layer === layer) last.removed.push(removal.tool);
    else runs.push({ layer, removed: [removal.tool] });
  }
  let left = passed + removed.length;
  return runs.map((one) => ({ ...one, left: (left -= one.removed.length) }));
}

const sections = new Map(Object.entries(catalog).flatMap(([section, tools]) => tools.map((tool): [string, string] => [tool, section])));

export const sectionOf = (tool: string, facts?: Pick<Tool, 'section'>) => sections.get(tool) ?? facts?.section ?? 'Plugins';

/** Its place in the catalog; what is not in it comes after. */
export function rankOf(tool: string): number {
  const at = catalogTools.indexOf(tool);
  return at < 0 ? catalogTools.length : at;
}

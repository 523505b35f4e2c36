import { Host, type Offer, type Removal, type Run, type Tool } from '../../kernel/index.ts';
import type { LayerId } from './contract.ts';
import type { Refusal } from './rules.ts';

/** A removal of one of our layers. Places of paths are looked up when told: a text may move while nothing in it changes. */
export type Removed = Removal & { readonly layer: LayerId; readonly path?: string };

/** Of a removal by another plugin's filter nothing more is known than the kernel asks for. */
export const isOurs = (removal: Removal): removal is Removed => 'layer' in removal;

/** What one layer leaves, and why the rest went. */
export function narrow(judge: (tool: Tool) => Refusal | undefined, offer: Offer, run: Run): Offer {
  const { tools, removed } = offer;
  const passed: Tool[] = [];
  const gone: Removed[] = [];
  for (const tool of tools) {
    const refusal = judge(tool);
    if (refusal) gone.push(removalOf(tool.name, refusal, run));
    else passed.push(tool);
  }
  return gone.length ? { tools: passed, removed: [...removed, ...gone] } : offer;
}

export function removalOf(tool: string, refusal: Refusal, run: Run): Removed {
  const { layer, why, path } = refusal;
  return { tool, why, rule: ruleOf(refusal, run), layer, ...(path !== undefined && { path }) };
}

/** For people: where it is written, else its name. */
export const ruleOf = ({ rule, path }: Refusal, run: Run) => (path === undefined ? rule : run.get(Host).place(path));

import { KernelError, messageOf } from './error.ts';
import type { Offer, ToolRequest, Verdict } from './points.ts';

/** What a filter returned, cut to what it was given: a filter only narrows. What it dropped without a word gets its name. */
export function narrowed(before: Offer, after: Offer, plugin: string, report: (error: unknown) => void): Offer {
  const passed = new Set(after.tools.map(({ name }) => name));
  const added = [...passed].filter((name) => !before.tools.some((tool) => tool.name === name));
  if (added.length)
    report(
      new KernelError('FILTER_WIDENED', `plugin "${plugin}" added ${added} in policy.filter; ignored`, { plugin }),
    );
  const reasons = new Map(after.removed.map((removal) => [removal.tool, removal]));
  const removed = before.tools
    .filter(({ name }) => !passed.has(name))
    .map(({ name }) => reasons.get(name) ?? { tool: name, why: `removed by plugin "${plugin}"`, rule: plugin });
  return { tools: before.tools.filter(({ name }) => passed.has(name)), removed: [...before.removed, ...removed] };
}

const rank = { allow: 0, ask: 1, deny: 2 };
export const strictest = (a: Verdict | undefined, b: Verdict | undefined) =>
  a && b ? ((rank[b.kind] ?? 2) > (rank[a.kind] ?? 2) ? b : a) : (a ?? b);

/** What a `policy.decide` waterfall carries: every decider is asked, the strictest answer stands. */
export type Deciding = readonly [ToolRequest, Verdict | undefined];

/** Asks one more decider. A throw is a deny with its cause; an abort propagates. */
export async function asked(
  [request, before]: Deciding,
  ask: (request: ToolRequest) => unknown,
  plugin: string,
  signal: AbortSignal,
) {
  try {
    return [request, strictest(before, (await ask(request)) as Verdict | undefined)];
  } catch (cause) {
    signal.throwIfAborted();
    return [request, { kind: 'deny', why: `plugin "${plugin}" could not decide: ${messageOf(cause)}`, rule: plugin }];
  }
}

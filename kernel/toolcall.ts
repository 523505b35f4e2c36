import { type KernelCode, KernelError, messageOf } from './error.ts';
import type { Tap } from './instance.ts';
import type { Check } from './kernel.ts';
import { Approver, type CallRequest, DecideTool, type Offer, type ToolRequest, type ToolResult, type Verdict } from './points.ts';
import type { Run } from './run.ts';

/** Work on the generation that is current now. */
type InLatest = <T>(work: (latest: Run) => Promise<T>) => Promise<T>;

/** The choke point of every tool call, from whichever door. */
export const callTool = (run: Run, request: CallRequest, check: Check, inLatest: InLatest): Promise<ToolResult> =>
  judgeAndExecute(run, request, check, inLatest).catch((cause: unknown) => {
    run.signal.throwIfAborted();
    return refusal('TOOL_FAILED', `${request.name} failed: ${messageOf(cause)}`);
  });

async function judgeAndExecute(run: Run, request: CallRequest, check: Check, inLatest: InLatest): Promise<ToolResult> {
  const { id, name, onUpdate: update = () => {} } = request;
  const offer = await run.tools();
  const tool = offer.tools.find((one) => one.name === name);
  if (!tool) return absent(name, offer, check);
  const args = structuredClone(request.args ?? {}) as ToolRequest['args'];
  const problems = check.args(tool.parameters, args);
  if (problems) return refusal('TOOL_ARGUMENTS', `wrong arguments for ${name}: ${problems}. Call it again with the arguments corrected.`);
  const verdict = await decide(run, Object.freeze({ id, tool, args }), inLatest);
  run.signal.throwIfAborted();
  if (verdict.kind !== 'allow') return refusal('TOOL_DENIED', `${name} was denied: ${verdict.why}`, verdict.rule);
  return tool.execute(args as never, { id, name, run, signal: run.signal, update });
}

function absent(name: string, { tools, removed }: Offer, check: Check): ToolResult {
  const gone = removed.find(({ tool }) => tool === name);
  if (gone) return refusal('TOOL_DENIED', `${name} is not available here: ${gone.why} (${gone.rule})`, gone.rule);
  const near = check.nearest(name, namesOf(tools));
  return refusal('TOOL_UNKNOWN', `there is no tool "${name}"${near ? `; did you mean "${near}"?` : ''}`);
}

function refusal(code: KernelCode, text: string, rule?: string): ToolResult {
  return { content: [{ type: 'text', text }], details: { code, ...(rule && { rule }) }, isError: true };
}

/** Code is pinned, authority is not: the generation that is current now is asked too, also after a person took time to say yes. */
async function decide(run: Run, request: ToolRequest, inLatest: InLatest): Promise<Verdict> {
  const strictest = async (latest: Run) => stricter(await judge(run, request), latest === run ? undefined : await judge(latest, request));
  const verdict = (await inLatest(strictest)) ?? unanswered;
  if (verdict.kind !== 'ask') return verdict;
  const answer = await inLatest(async (latest) => latest.find(Approver)?.ask(request, verdict.why, latest));
  const now = answer?.allowed ? ((await inLatest(strictest)) ?? unanswered) : undefined;
  if (now) return now.kind === 'deny' ? now : { kind: 'allow' };
  return { kind: 'deny', why: answer?.why ?? `${verdict.why}; no plugin is there to ask a person (switch on "approvals")` };
}

async function judge(run: Run, request: ToolRequest): Promise<Verdict> {
  const gone = (await run.tools()).removed.find(({ tool }) => tool === request.tool.name);
  return gone ? { kind: 'deny', ...gone } : ((await run.call(DecideTool, request)) ?? unanswered);
}

const unanswered: Verdict = { kind: 'deny', why: 'no policy plugin allowed it (switch on "policy")' };
const rank = { allow: 0, ask: 1, deny: 2 };

/** Of two answers; what is no verdict at all counts as a deny. */
const stricter = (a: Verdict | undefined, b: Verdict | undefined) =>
  a && b ? ((rank[b.kind] ?? 2) > (rank[a.kind] ?? 2) ? b : a) : (a ?? b);

/** Asks every decider; the strictest answer stands. A throw is a deny with its cause; an abort propagates. */
export async function judged(taps: readonly Tap[], request: ToolRequest, run: Run): Promise<Verdict | undefined> {
  let verdict: Verdict | undefined;
  for (const { plugin, fn } of taps) {
    const answer = await Promise.try(fn, request, run).catch((cause: unknown) => {
      run.signal.throwIfAborted();
      return { kind: 'deny', why: `plugin "${plugin}" could not decide: ${messageOf(cause)}`, rule: plugin };
    });
    verdict = stricter(verdict, answer as Verdict | undefined);
  }
  return verdict;
}

/** What a filter returned, cut to what it was given: a filter only narrows. What it dropped without a word gets its name. */
export function narrowed(before: Offer, after: Offer, plugin: string, report: (error: unknown) => void): Offer {
  const [offered, passed] = [namesOf(before.tools), namesOf(after.tools)];
  const added = [...passed.difference(offered)].join(', ');
  if (added) report(new KernelError('FILTER_WIDENED', `plugin "${plugin}" added ${added} in policy.filter; ignored`, { plugin }));
  const reasons = new Map(after.removed.map((removal) => [removal.tool, removal]));
  const unexplained = { why: `removed by plugin "${plugin}"`, rule: plugin };
  const removed = [...offered.difference(passed)].map((tool) => reasons.get(tool) ?? { tool, ...unexplained });
  return { tools: before.tools.filter(({ name }) => passed.has(name)), removed: [...before.removed, ...removed] };
}

const namesOf = (tools: Offer['tools']) => new Set(tools.map(({ name }) => name));

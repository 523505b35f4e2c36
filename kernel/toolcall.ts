import { messageOf } from './error.ts';
import { nearest } from './nearest.ts';
import {
  Approver,
  DecideTool,
  type Tool,
  type ToolCall,
  type ToolRequest,
  type ToolResult,
  type Verdict,
} from './points.ts';
import { strictest } from './policy.ts';
import type { Run } from './run.ts';
import { validate } from './schema.ts';

export interface CallRequest {
  readonly id: string;
  readonly name: string;
  /** As the model gave them; checked here. */
  readonly args: unknown;
  readonly onUpdate?: (partial: ToolResult) => void;
}

type Latest = <T>(work: (run: Run) => Promise<T>) => Promise<T> | undefined;

/** The choke point of every tool call, from whichever door. */
export async function callTool(
  run: Run,
  { id, name, args: raw, onUpdate }: CallRequest,
  latest: Latest,
): Promise<ToolResult> {
  const { tools, removed } = await run.tools();
  const tool = tools.find((one) => one.name === name);
  if (!tool) {
    const gone = removed.find((removal) => removal.tool === name);
    const near = nearest(
      name,
      tools.map((one) => one.name),
    );
    return refusal(
      gone ? 'TOOL_DENIED' : 'TOOL_UNKNOWN',
      gone
        ? `${name} is not available here: ${gone.why} (${gone.rule})`
        : `there is no tool "${name}"${near ? `; did you mean "${near}"?` : ''}`,
    );
  }
  const args = structuredClone(raw ?? {}) as Record<string, unknown>;
  const problems = validate(tool.parameters, args);
  if (problems.length) {
    const list = problems.map(
      (p) => `${p.path || 'arguments'}: ${p.message}${p.nearest ? ` (did you mean "${p.nearest}"?)` : ''}`,
    );
    return refusal(
      'TOOL_ARGUMENTS',
      `wrong arguments for ${name}: ${list.join('; ')}. Call it again with the arguments corrected.`,
    );
  }
  const verdict = await decide(run, Object.freeze({ id, tool, args }), latest);
  run.signal.throwIfAborted();
  if (verdict.kind !== 'allow') return refusal('TOOL_DENIED', `${name} was denied: ${verdict.why}`, verdict.rule);
  return execute(tool, args, { id, name, run, signal: run.signal, update: onUpdate ?? (() => {}) });
}

/** Code is pinned, authority is not: the generation that is current now is asked too, and the stricter answer stands. */
async function decide(run: Run, request: ToolRequest, latest: Latest): Promise<Verdict> {
  const now = await latest(async (other) => {
    const gone = (await other.tools()).removed.find((removal) => removal.tool === request.tool.name);
    const verdict = await other.call(DecideTool, request);
    return gone ? ({ kind: 'deny', why: gone.why, rule: gone.rule } as const) : (verdict ?? unanswered);
  });
  const verdict = strictest((await run.call(DecideTool, request)) ?? unanswered, now) as Verdict;
  if (verdict.kind !== 'ask') return verdict;
  const ask = (on: Run) => on.find(Approver)?.ask(request, verdict.why, on);
  const answer = await ((await latest(async (other) => ask(other))) ?? ask(run));
  if (answer?.allowed) return { kind: 'allow' };
  return {
    kind: 'deny',
    why: answer?.why ?? `${verdict.why}; no plugin is there to ask a person (switch on "approvals")`,
  };
}

const unanswered: Verdict = { kind: 'deny', why: 'no policy plugin allowed it (switch on "policy")' };

async function execute(tool: Tool, args: unknown, call: ToolCall): Promise<ToolResult> {
  try {
    return await tool.execute(args as never, call);
  } catch (cause) {
    call.signal.throwIfAborted();
    return refusal('TOOL_FAILED', `${tool.name} failed: ${messageOf(cause)}`);
  }
}

const refusal = (code: string, text: string, rule?: string): ToolResult => ({
  content: [{ type: 'text', text }],
  details: { code, ...(rule && { rule }) },
  isError: true,
});

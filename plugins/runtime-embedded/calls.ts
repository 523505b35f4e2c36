import type { Run, Tool, ToolResult } from '../../kernel/index.ts';
import { invalidArgumentsOf } from '../models/contract.ts';
import type { Message, ToolCallPart } from '../sessions/contract.ts';

type Emit = (type: string, data: Readonly<Record<string, unknown>>) => void;

/** The largest text of one result that goes to the model; tools cap their own far below. Characters. */
const maxText = 100_000;

/**
 * Runs the calls of one reply and appends a result for each, in the order of the calls, also when the turn is aborted:
 * no call is ever left without a result. Neighbours whose tools allow it run side by side.
 */
export async function runCalls(
  calls: readonly ToolCallPart[],
  tools: readonly Tool[],
  run: Run,
  emit: Emit,
  append: (message: Message) => Promise<void>,
) {
  const parallel = (call: ToolCallPart) => tools.find((tool) => tool.name === call.name)?.parallel === true;
  for (const group of grouped(calls, parallel)) {
    const results = await Promise.all(group.map((call) => runCall(call, run, emit)));
    for (const [i, call] of group.entries()) await append(resultMessage(call, results[i] as ToolResult));
  }
}

/** Runs of parallel calls together, every other call alone. */
function grouped(calls: readonly ToolCallPart[], parallel: (call: ToolCallPart) => boolean): readonly ToolCallPart[][] {
  const groups: ToolCallPart[][] = [];
  for (const call of calls) {
    const last = groups.at(-1);
    if (last && parallel(call) && last.every(parallel)) last.push(call);
    else groups.push([call]);
  }
  return groups;
}

async function runCall(call: ToolCallPart, run: Run, emit: Emit): Promise<ToolResult> {
  const { id: callId, name, arguments: args } = call;
  const began = performance.now();
  emit('tool_execution_start', { callId, name, args });
  const result = await outcome(call, run, (partial) => emit('tool_execution_update', { callId, partial }));
  emit('tool_execution_end', { callId, name, result, ms: Math.round(performance.now() - began) });
  return result;
}

async function outcome(call: ToolCallPart, run: Run, onUpdate: (partial: ToolResult) => void): Promise<ToolResult> {
  if (run.signal.aborted) return error('The turn was stopped before this call began.');
  const raw = invalidArgumentsOf(call);
  if (raw !== undefined) return error(`The arguments are no JSON object: ${raw.slice(0, 200)}. Call ${call.name} again with valid JSON.`);
  try {
    return capped(await run.callTool({ id: call.id, name: call.name, args: call.arguments, onUpdate }));
  } catch (cause) {
    if (!run.signal.aborted) throw cause;
    return error('The turn was stopped while this call ran; what it had done by then stays done.');
  }
}

const error = (text: string): ToolResult => ({ content: [{ type: 'text', text }], isError: true });

function capped(result: ToolResult): ToolResult {
  if (result.content.every((part) => part.type !== 'text' || part.text.length <= maxText)) return result;
  const cut = (text: string) => `${text.slice(0, maxText)}\n[cut: ${text.length - maxText} more characters]`;
  return {
    ...result,
    content: result.content.map((p) => (p.type === 'text' && p.text.length > maxText ? { ...p, text: cut(p.text) } : p)),
  };
}

const resultMessage = (call: ToolCallPart, { content, details, isError = false }: ToolResult): Message => ({
  role: 'toolResult',
  toolCallId: call.id,
  toolName: call.name,
  content,
  ...(details !== undefined && { details }),
  isError,
  timestamp: Date.now(),
});

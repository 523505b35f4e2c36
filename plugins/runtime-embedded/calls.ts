import type { Log, Run, Tool, ToolResult } from '../../kernel/index.ts';
import type { Message, ToolCallPart } from '../sessions/contract.ts';
import type { Ended } from '../turns/contract.ts';
import { resultOf } from './call.ts';
import type { Guard } from './guard.ts';
import type { Settings } from './settings.ts';

export interface Around {
  readonly run: Run;
  readonly tools: readonly Tool[];
  readonly settings: Settings;
  readonly guard: Guard;
  readonly log: Log;
  readonly emit: (type: string, data: Readonly<Record<string, unknown>>) => void;
  readonly append: (message: Message) => Promise<void>;
  readonly ended: (one: Ended) => void;
}

/**
 * Runs the calls of one reply and appends a result for each, in the order of the calls, also when the turn is aborted:
 * no call is ever left without a result. Neighbours whose tools allow it run side by side.
 */
export async function runCalls(calls: readonly ToolCallPart[], around: Around) {
  const { tools, guard, append } = around;
  const parallel = (call: ToolCallPart) => tools.find((tool) => tool.name === call.name)?.parallel === true;
  for (const group of grouped(calls, parallel)) {
    const results = guard.ended() ? group.map(() => notRun) : await Promise.all(group.map((call) => runCall(call, around)));
    for (const [i, call] of group.entries()) {
      const result = results[i] as ToolResult;
      const note = result === notRun ? undefined : guard.saw(call, result);
      await append(resultMessage(call, note ? { ...result, content: [...result.content, { type: 'text', text: note }] } : result));
    }
  }
}

const notRun: ToolResult = {
  content: [{ type: 'text', text: 'Not run: the turn was ended before, because it went round in a circle.' }],
  isError: true,
};

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

async function runCall(call: ToolCallPart, around: Around): Promise<ToolResult> {
  const { id: callId, name, arguments: args } = call;
  const { emit } = around;
  const began = performance.now();
  emit('tool_execution_start', { callId, name, args });
  const result = await resultOf(call, { ...around, onUpdate: (partial) => emit('tool_execution_update', { callId, partial }) });
  emit('tool_execution_end', { callId, name, result, ms: Math.round(performance.now() - began) });
  return result;
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

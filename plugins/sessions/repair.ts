import type { AssistantMessage, Message, ToolCallPart, ToolResultMessage } from './contract.ts';

export const interrupted = 'This call was interrupted; its outcome is unknown. It was not run again.';

export const callsOf = (message: AssistantMessage): readonly ToolCallPart[] => message.content.filter((part) => part.type === 'toolCall');

/** The result that stands for one that never came. A call without a recorded result is never rerun. */
export const missingResult = (call: ToolCallPart, timestamp: number): ToolResultMessage => ({
  role: 'toolResult',
  toolCallId: call.id,
  toolName: call.name,
  content: [{ type: 'text', text: interrupted }],
  isError: true,
  timestamp,
});

/** Calls at the end of a transcript that still wait for their results. */
export function openCalls(messages: readonly Message[]): readonly ToolCallPart[] {
  const answered = new Set<string>();
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i] as Message;
    if (message.role === 'toolResult') answered.add(message.toolCallId);
    else if (message.role === 'assistant') return callsOf(message).filter((call) => !answered.has(call.id));
    else return [];
  }
  return [];
}

/**
 * History that every provider takes: each call is followed at once by exactly one result, no result stands alone,
 * nothing is empty. Keeps the identity of messages that need no change, so that their wire form stays cached.
 */
export function validHistory(messages: readonly Message[]): readonly Message[] {
  const valid: Message[] = [];
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i] as Message;
    if (message.role === 'user') valid.push(message);
    if (message.role !== 'assistant' || message.content.length === 0) continue;
    const broken = message.stopReason === 'error' || message.stopReason === 'aborted';
    const calls = broken ? [] : callsOf(message);
    const kept = broken ? withoutCalls(message) : message;
    if (kept.content.length === 0) continue;
    valid.push(kept);
    if (calls.length === 0) continue;
    const results = new Map<string, ToolResultMessage>();
    for (let next = messages[i + 1]; next?.role === 'toolResult'; next = messages[++i + 1]) {
      if (!results.has(next.toolCallId)) results.set(next.toolCallId, next);
    }
    for (const call of calls) valid.push(results.get(call.id) ?? missingResult(call, message.timestamp));
  }
  return valid;
}

function withoutCalls(message: AssistantMessage): AssistantMessage {
  if (!message.content.some((part) => part.type === 'toolCall')) return message;
  return { ...message, content: message.content.filter((part) => part.type !== 'toolCall') };
}

import type { AssistantMessage, Message, ToolCallPart, ToolResultMessage } from '../contract.ts';

export const interrupted = 'This call was interrupted; its outcome is unknown. It was not run again.';

export const callsOf = (message: AssistantMessage): readonly ToolCallPart[] => message.content.filter((part) => part.type === 'toolCall');

/** The result that stands for one that never came. A call without a recorded result is never rerun. */
export const missingResult = (call: ToolCallPart, timestamp: number): ToolResultMessage => ({
  role: 'toolResult',
  toolCallId: typeof call.id === 'string' ? call.id : '', // of a line of a file; as the call is sent
  toolName: call.name,
  content: [{ type: 'text', text: interrupted }],
  isError: true,
  timestamp,
});

/**
 * History that every provider takes: each call is followed at once by exactly one result, in the order of the calls, no
 * result stands alone, nothing is empty. Of calls with one id the first result is the first one's. Keeps the identity of
 * messages that need no change, so that their wire form stays cached.
 */
export function validHistory(messages: readonly Message[]): readonly Message[] {
  const valid: Message[] = [];
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i] as Message;
    if (message.role === 'user') valid.push(message);
    if (message.role !== 'assistant' || message.content.length === 0) continue;
    const isBroken = message.stopReason === 'error' || message.stopReason === 'aborted';
    const kept = isBroken ? saidIn(message) : message;
    if (kept.content.length === 0) continue;
    valid.push(kept);
    const calls = callsOf(kept);
    if (calls.length === 0) continue;
    const results = new Map<string, ToolResultMessage[]>();
    for (let next = messages[i + 1]; next?.role === 'toolResult'; next = messages[++i + 1]) {
      const those = results.get(next.toolCallId);
      if (those) those.push(next);
      else results.set(next.toolCallId, [next]);
    }
    for (const call of calls) valid.push(results.get(call.id)?.shift() ?? neverCame(call, message.timestamp));
  }
  return valid;
}

const missing = new WeakMap<ToolCallPart, ToolResultMessage>();

function neverCame(call: ToolCallPart, timestamp: number): ToolResultMessage {
  const known = missing.get(call) ?? missingResult(call, timestamp);
  missing.set(call, known);
  return known;
}

const said = new WeakMap<AssistantMessage, AssistantMessage>();

/** Of a reply that broke off only the text: a call may lack its end, thinking its signature or what it was for. */
function saidIn(message: AssistantMessage): AssistantMessage {
  if (message.content.every(({ type }) => type === 'text')) return message;
  const known = said.get(message) ?? { ...message, content: message.content.filter(({ type }) => type === 'text') };
  said.set(message, known);
  return known;
}

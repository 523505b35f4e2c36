import type { Message, ToolCallPart } from './contract.ts';
import { callsOf } from './contract/pairing.ts';

export { callsOf, interrupted, missingResult, validHistory } from './contract/pairing.ts';

/** Calls at the end of a transcript that still wait for their results. */
export function openCalls(messages: readonly Message[]): readonly ToolCallPart[] {
  const answers = new Map<string, number>();
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i] as Message;
    if (message.role === 'toolResult') answers.set(message.toolCallId, (answers.get(message.toolCallId) ?? 0) + 1);
    else return message.role === 'assistant' ? callsOf(message).filter(({ id }) => !took(answers, id)) : [];
  }
  return [];
}

/** One answer serves one call, also where ids are not unique. */
function took(answers: Map<string, number>, id: string): boolean {
  const left = answers.get(id) ?? 0;
  answers.set(id, left - 1);
  return left > 0;
}

import { checkDataUrl, checkText, findings, isFilled, isObject, type Json, listOf, objectIn } from './rules.ts';

/**
 * OpenAI, chat completions, as its API reference and its error answers have it: an assistant message with `tool_calls`
 * is followed by one tool message for each `tool_call_id`, a tool message follows only those; ids of at most 40
 * characters; function names of `[a-zA-Z0-9_-]{1,64}`; content not empty; the last word is not the assistant's.
 */
export function chatFaults(body: Json, raw: string): readonly string[] {
  const findingsHere = findings();
  const { add, found } = findingsHere;
  checkText(raw, findingsHere);
  const ids = new Set<string>();
  let waiting: string[] = [];
  const messages = listOf(body['messages']);
  for (const [i, message] of messages.entries()) {
    const { role, content, tool_calls: calls, tool_call_id: id } = message;
    const at = `messages[${i}] (${String(role)})`;
    if (role === 'tool') {
      if (!waiting.includes(String(id))) add(at, `tool_call_id ${String(id)} answers no call before it`);
      waiting = waiting.filter((one) => one !== id);
      if (!isFilled(content)) add(at, 'empty content');
      continue;
    }
    if (waiting.length) add(at, `calls ${waiting.join()} had no results`);
    waiting = [];
    if (role === 'assistant') {
      const list = listOf(calls);
      if (calls !== undefined && list.length === 0) add(at, 'empty tool_calls');
      if (!(content === null && list.length > 0) && !isFilled(content)) add(at, 'neither content nor calls');
      for (const call of list) {
        const { name, arguments: args } = (call['function'] ?? {}) as Json;
        const callId = String(call['id']);
        if (call['type'] !== 'function') add(at, 'a call of no type');
        if (callId.length === 0 || callId.length > 40) add(at, `id of ${callId.length} characters`);
        if (ids.has(callId)) add(at, `id ${callId} again`);
        if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(name))) add(at, `name ${String(name)}`);
        if (!objectIn(args)) add(at, 'arguments are no JSON object');
        ids.add(callId);
        waiting.push(callId);
      }
      continue;
    }
    if (role !== 'user' && role !== 'system' && role !== 'developer') add(at, 'unknown role');
    if (Array.isArray(content)) checkParts(at, content, findingsHere);
    else if (!isFilled(content)) add(at, 'empty content');
  }
  if (waiting.length) add('end', `calls ${waiting.join()} had no results`);
  if (!messages.some(({ role }) => role === 'user')) add('messages', 'no user message');
  if (messages.at(-1)?.['role'] === 'assistant') add('end', 'the last word is the assistant’s');
  return found;
}

function checkParts(at: string, content: readonly unknown[], all: ReturnType<typeof findings>) {
  if (content.length === 0) all.add(at, 'no parts');
  for (const part of content) {
    if (!isObject(part)) all.add(at, 'a part that is no object');
    else if (part['type'] === 'image_url') checkDataUrl(at, (part['image_url'] as Json)['url'], all);
    else if (part['type'] !== 'text' || !isFilled(part['text'])) all.add(at, 'a part that is no text');
  }
}

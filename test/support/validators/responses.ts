import { checkDataUrl, checkText, type Findings, findings, isFilled, type Json, listOf, objectIn } from './rules.ts';

/**
 * OpenAI, responses with `store: false`: each item's id begins with its kind, has at most 64 characters and is there
 * once; a `function_call_output` answers a call before it and each call has one; `reasoning` carries its encrypted content
 * and is followed at once by the item it led to, and an item that names itself by the id it got has its reasoning before it.
 */
export function responsesFaults(body: Json, raw: string): readonly string[] {
  const all = findings();
  const { add, found } = all;
  checkText(raw, all);
  if (body['store'] !== false) add('store', 'the rules below are for store: false');
  const input = listOf(body['input']);
  const ids = new Set<string>();
  const open = new Set<string>();
  const calls = new Set<string>();
  for (const [i, item] of input.entries()) {
    const type = typeof item['type'] === 'string' ? item['type'] : 'message';
    const at = `input[${i}] (${type})`;
    checkId(at, type, item['id'], ids, all);
    if (type === 'message' && item['role'] !== 'assistant' && open.size) add(at, `calls ${[...open].join()} had no results`);
    if (type === 'reasoning') checkReasoning(at, item, input[i + 1], all);
    else if (type === 'function_call') {
      const id = String(item['call_id']);
      if (!/^[\w-]{1,64}$/.test(id)) add(at, `call_id ${id}`);
      if (calls.has(id)) add(at, `call_id ${id} again`);
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(item['name']))) add(at, `name ${String(item['name'])}`);
      if (!objectIn(item['arguments'])) add(at, 'arguments are no JSON object');
      calls.add(id);
      open.add(id);
    } else if (type === 'function_call_output') {
      if (!open.delete(String(item['call_id']))) add(at, `answers no open call: ${String(item['call_id'])}`);
      checkOutput(at, item['output'], all);
    } else checkMessage(at, item, all);
  }
  if (open.size) add('end', `calls ${[...open].join()} had no results`);
  if (input.at(-1)?.['role'] === 'assistant') add('end', 'the last word is the assistant’s');
  if (!input.some(({ role }) => role === 'user')) add('input', 'no user message');
  return found;
}

const kinds: Readonly<Record<string, string>> = { reasoning: 'rs_', function_call: 'fc_', message: 'msg_' };

function checkId(at: string, type: string, given: unknown, ids: Set<string>, { add }: Findings) {
  if (type === 'reasoning' && given === undefined) add(at, 'no id');
  if (given === undefined) return;
  const id = typeof given === 'string' ? given : '';
  if (!/^[\w-]{1,64}$/.test(id)) add(at, `id ${id}`);
  if (!id.startsWith(kinds[type] ?? '')) add(at, `id ${id} of another kind`);
  if (ids.has(id)) add(at, `duplicate item ${id}`);
  ids.add(id);
}

function checkReasoning(at: string, item: Json, next: Json | undefined, { add }: Findings) {
  if (!isFilled(item['encrypted_content'])) add(at, 'no encrypted content: nothing is stored');
  if (!Array.isArray(item['summary'])) add(at, 'no summary');
  const isItem = next && (next['type'] === 'function_call' || (next['type'] === 'message' && next['role'] === 'assistant'));
  if (!isItem) add(at, 'without its required following item');
  else if (next['id'] === undefined) add(at, 'what follows does not say which item it is');
}

function checkOutput(at: string, output: unknown, all: Findings) {
  if (typeof output === 'string') {
    if (!isFilled(output)) all.add(at, 'empty output');
    return;
  }
  if (listOf(output).length === 0) all.add(at, 'no output');
  for (const part of listOf(output)) {
    if (part['type'] === 'input_image') checkDataUrl(at, part['image_url'], all);
    else if (part['type'] !== 'input_text' || !isFilled(part['text'])) all.add(at, 'a part that is no text');
  }
}

function checkMessage(at: string, { role, content }: Json, all: Findings) {
  if (typeof content === 'string') {
    if (!isFilled(content)) all.add(at, 'empty content');
    return;
  }
  const parts = listOf(content);
  if (parts.length === 0) all.add(at, 'no content');
  const text = role === 'assistant' ? 'output_text' : 'input_text';
  for (const part of parts) {
    if (part['type'] === 'input_image' && role === 'user') checkDataUrl(at, part['image_url'], all);
    else if (part['type'] !== text || !isFilled(part['text'])) all.add(at, `a part ${String(part['type'])} that is no ${text}`);
  }
}

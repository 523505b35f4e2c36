import { checkImage, checkText, type Findings, findings, isFilled, isObject, type Json, listOf } from './rules.ts';

/**
 * Anthropic, messages: a user begins and has the last word; `tool_use` ids match `^[a-zA-Z0-9_-]+$`, are there once, and
 * are answered by the `tool_result` blocks at the head of the very next user message; text is not empty; thinking is
 * signed and never a message's last block; an error result holds only text; with thinking enabled the reply a turn goes on
 * from begins with it. Messages of one role in a row count as one.
 */
export function messagesFaults(body: Json, raw: string): readonly string[] {
  const all = findings();
  const { add, found } = all;
  checkText(raw, all);
  if (typeof body['max_tokens'] !== 'number' || body['max_tokens'] < 1) add('max_tokens', 'missing');
  const messages = merged(listOf(body['messages']), all);
  if (messages[0]?.role !== 'user') add('messages[0]', 'not a user’s');
  if (messages.at(-1)?.role !== 'user') add('end', 'the last word is not a user’s');
  const ids = new Set<string>();
  let waiting: string[] = [];
  for (const [i, { role, blocks }] of messages.entries()) {
    const at = `messages[${i}] (${role})`;
    if (role === 'user') checkUser(at, blocks, waiting, all);
    waiting = role === 'assistant' ? checkAssistant(at, blocks, ids, all) : [];
  }
  if (waiting.length) add('end', `tool_use ${waiting.join()} without tool_result`);
  const last = messages.at(-2);
  const isGoingOn = messages.at(-1)?.blocks[0]?.['type'] === 'tool_result';
  const first = last?.blocks[0]?.['type'];
  if (
    (body['thinking'] as Json | undefined)?.['type'] === 'enabled' &&
    isGoingOn &&
    first !== 'thinking' &&
    first !== 'redacted_thinking'
  ) {
    add('end', 'thinking is enabled, and the reply the turn goes on from does not begin with it');
  }
  return found;
}

interface Turn {
  readonly role: string;
  readonly blocks: Json[];
}

function merged(messages: readonly Json[], { add }: Findings): readonly Turn[] {
  const turns: Turn[] = [];
  for (const [i, { role, content }] of messages.entries()) {
    if (role !== 'user' && role !== 'assistant') add(`messages[${i}]`, `role ${String(role)}`);
    if (typeof content === 'string' ? !isFilled(content) : listOf(content).length === 0) add(`messages[${i}]`, 'empty content');
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content);
    const last = turns.at(-1);
    if (last && last.role === role) last.blocks.push(...blocks);
    else turns.push({ role: String(role), blocks: [...blocks] });
  }
  return turns;
}

function checkUser(at: string, blocks: readonly Json[], waiting: readonly string[], all: Findings) {
  const results = blocks.filter(({ type }) => type === 'tool_result');
  const answered = results.map((block) => String(block['tool_use_id']));
  for (const id of waiting) if (!answered.includes(id)) all.add(at, `tool_use ${id} without tool_result right after it`);
  for (const id of answered) if (!waiting.includes(id)) all.add(at, `tool_result ${id} without tool_use right before it`);
  if (new Set(answered).size !== answered.length) all.add(at, 'two results for one tool_use');
  if (blocks.slice(0, results.length).some(({ type }) => type !== 'tool_result')) all.add(at, 'tool_result blocks must come first');
  for (const block of blocks) {
    if (block['type'] === 'tool_result') checkResult(at, block, all);
    else checkBlock(at, block, all);
  }
}

function checkResult(at: string, { content, is_error: isError }: Json, all: Findings) {
  if (typeof content === 'string') {
    if (!isFilled(content)) all.add(at, 'an empty result');
    return;
  }
  for (const block of listOf(content)) {
    if (isError === true && block['type'] !== 'text') all.add(at, 'an error result may hold only text');
    checkBlock(at, block, all);
  }
}

function checkBlock(at: string, block: Json, all: Findings) {
  const { type, source, text } = block;
  if (type === 'text' && !isFilled(text)) all.add(at, 'text content blocks must be non-empty');
  if (type === 'image') checkImage(at, (source as Json)['media_type'], (source as Json)['data'], all);
  if (type !== 'text' && type !== 'image') all.add(at, `a block ${String(type)} in a user's message`);
}

function checkAssistant(at: string, blocks: readonly Json[], ids: Set<string>, { add }: Findings): string[] {
  const calls: string[] = [];
  for (const { type, text, id, name, input, thinking, signature, data } of blocks) {
    if (type === 'text') {
      if (!isFilled(text)) add(at, 'text content blocks must be non-empty');
    } else if (type === 'thinking') {
      if (typeof thinking !== 'string' || !isFilled(signature)) add(at, 'thinking without signature');
    } else if (type === 'redacted_thinking') {
      if (!isFilled(data)) add(at, 'redacted thinking without data');
    } else if (type === 'tool_use') {
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(id))) add(at, `tool_use.id ${String(id)}`);
      if (ids.has(String(id))) add(at, `tool_use ids must be unique: ${String(id)}`);
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(name))) add(at, `tool_use.name ${String(name)}`);
      if (!isObject(input)) add(at, 'tool_use.input is no object');
      ids.add(String(id));
      calls.push(String(id));
    } else add(at, `a block ${String(type)} in an assistant's message`);
  }
  const last = blocks.at(-1)?.['type'];
  if (last === 'thinking' || last === 'redacted_thinking') add(at, 'the final block cannot be thinking');
  return calls;
}

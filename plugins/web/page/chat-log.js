// @ts-check
/**
 * What one session shows: rows made from its stored entries, kept up by live events. No DOM.
 * Taking the same message twice (stored and replayed) changes nothing.
 */

import { createTurn } from './turn.js';

/**
 * @typedef {import('../../sessions/contract.ts').Message} Message
 * @typedef {import('../../sessions/contract.ts').AssistantMessage} AssistantMessage
 * @typedef {import('../../sessions/contract.ts').Entry} Entry
 * @typedef {import('../../sessions/contract.ts').Usage} Usage
 * @typedef {import('../../../kernel/points.ts').Content} Content
 * @typedef {import('../../../kernel/points.ts').ToolResult} ToolResult
 * @typedef {import('../../events/contract.ts').LiveEvent} LiveEvent
 *
 * @typedef {{ kind: 'text' | 'thinking', text: string }
 *   | { kind: 'tool', callId?: string, name: string, argsText: string, args?: unknown }} Part
 * @typedef {{ kind: 'user', id: string, version: number, content: readonly Content[], at: number, itemId?: string | undefined }} UserRow
 * @typedef {{ kind: 'assistant', id: string, version: number, parts: Part[], streaming: boolean, at: number }} AssistantRow
 * @typedef {{ kind: 'end', id: string, version: number, usage: Usage | undefined, ms: number | undefined, model: string | undefined,
 *   stopReason: string, error: { code?: string, message: string } | undefined, notes: string[] }} EndRow
 * @typedef {{ kind: 'note', id: string, version: number, text: string }} NoteRow
 * @typedef {UserRow | AssistantRow | EndRow | NoteRow} Row
 * @typedef {{ state: 'running' | 'ok' | 'error', result?: ToolResult, partial?: ToolResult, ms?: number }} ToolState
 * @typedef {{ itemId: string, since: number, model?: string | undefined }} Running
 */

/** @param {() => void} changed Called after anything changed; cheap and often. */
export function createChatLog(changed) {
  /** @type {Row[]} */
  let rows = [];
  /** @type {Map<string, Row>} */
  let byId = new Map();
  /** @type {Map<string, ToolState>} */
  let tools = new Map();
  /** @type {Map<string, string>} tool call → the row that shows it */
  let callRows = new Map();
  /** @type {Set<string>} */
  let known = new Set();
  /** @type {string[]} items of whose end no message tells */
  let unanswered = [];
  /** @type {Running | undefined} */
  let running;
  /** @type {ReturnType<typeof createTurn>} */
  let turn = createTurn();
  // Never starts again: a row made anew under an old id must not pass for the drawn one.
  let clock = 0;

  function clear() {
    rows = [];
    byId = new Map();
    tools = new Map();
    callRows = new Map();
    known = new Set();
    unanswered = [];
    running = undefined;
    turn = createTurn();
    changed();
  }

  /** @param {readonly Entry[]} entries @param {Running | undefined} active */
  function load(entries, active) {
    clear();
    for (const entry of entries) {
      if (entry.type !== 'message') continue;
      if (entry.message.role === 'user') closeTurn();
      addMessage(entry.message, entry.id, entry.itemId);
      turn.saw(entry);
    }
    running = active;
    if (!active || active.itemId !== turn.itemId()) closeTurn();
    changed();
  }

  /** Ends a stored turn with what its messages tell; a replayed agent_end will know more. */
  function closeTurn() {
    const end = turn.end();
    if (end && !byId.has(end.id)) add(end);
    if (!turn.isAnswered() && turn.itemId()) unanswered.push(turn.itemId());
    turn = createTurn();
  }

  /** @param {Row} row */
  function add(row) {
    row.version = ++clock;
    rows.push(row);
    byId.set(row.id, row);
  }

  /** @param {string} id @returns {AssistantRow} */
  function assistantRow(id) {
    const row = byId.get(id);
    if (row?.kind === 'assistant') return row;
    /** @type {AssistantRow} */
    const made = { kind: 'assistant', id, version: 0, parts: [], streaming: true, at: Date.now() };
    add(made);
    return made;
  }

  /** @param {Message} message @param {string} id @param {string | undefined} itemId */
  function addMessage(message, id, itemId) {
    const identity = `${message.role}:${message.timestamp}:${JSON.stringify(message.content)}`;
    const isKnown = known.has(identity);
    known.add(identity);
    if (message.role === 'assistant') return isKnown ? dropStreaming(id) : finish(assistantRow(id), message);
    if (isKnown) return undefined;
    if (message.role === 'toolResult') {
      const { toolCallId, content, details, isError } = message;
      return setTool(toolCallId, { state: isError ? 'error' : 'ok', result: { content, details, isError } });
    }
    return add({ kind: 'user', id, version: 0, content: partsOf(message.content), at: message.timestamp, itemId });
  }

  /** @param {AssistantRow} row @param {AssistantMessage} message */
  function finish(row, message) {
    row.streaming = false;
    row.at = message.timestamp;
    row.parts = message.content.map((part) => {
      if (part.type === 'text') return { kind: 'text', text: part.text };
      if (part.type === 'thinking') return { kind: 'thinking', text: part.thinking };
      callRows.set(part.id, row.id);
      return { kind: 'tool', callId: part.id, name: part.name, argsText: '', args: part.arguments };
    });
    row.version = ++clock;
  }

  /** A replayed message that the stored entries already showed under its entry's id. @param {string} id */
  function dropStreaming(id) {
    const row = byId.get(id);
    if (row?.kind !== 'assistant' || !row.streaming) return;
    rows.splice(rows.indexOf(row), 1);
    byId.delete(id);
  }

  /** @param {string} callId @param {Partial<ToolState>} change */
  function setTool(callId, change) {
    const before = tools.get(callId) ?? { state: 'running' };
    tools.set(callId, { ...before, ...change });
    const row = byId.get(callRows.get(callId) ?? '');
    if (row) row.version = ++clock;
  }

  /** @param {{ messageId: string, kind: string, index: number, delta: string, name?: string }} update */
  function append({ messageId, kind, index, delta, name }) {
    const row = assistantRow(messageId);
    if (!row.streaming) return;
    const part = row.parts[index] ?? newPart(kind);
    row.parts[index] = part;
    if (part.kind === 'tool') {
      part.argsText += delta;
      part.name = name ?? part.name;
    } else part.text += delta;
    row.version = ++clock;
  }

  /** @param {{ from: string, to: string, isBack: boolean, reason?: string }} change */
  function noteSwitch({ from, to, isBack, reason = '' }) {
    const text = isBack ? `${to} answers again` : `${to} answers in place of ${from} (${reason.replaceAll('_', ' ')})`;
    if (running) running = { ...running, model: to };
    note(text);
  }

  /** @param {string} text */
  function note(text) {
    const answering = rows.findLastIndex((row) => row.kind === 'assistant' && row.streaming);
    add({ kind: 'note', id: `note:${clock}`, version: 0, text });
    // Above the reply that it is about, which may have begun.
    if (answering >= 0) rows.splice(answering, 0, ...rows.splice(-1));
  }

  /** @param {{ error?: string, messages: number, tokensBefore: number, tokensAfter: number }} end */
  function noteCompaction({ error, messages, tokensBefore, tokensAfter }) {
    const what = messages
      ? `${thousands(messages)} messages are a summary for the model now`
      : 'Long tool results were shortened for the model';
    note(error ?? `${what}: about ${thousands(tokensBefore)} tokens became ${thousands(tokensAfter)}. Nothing was deleted.`);
  }

  /** What was shown of the message under way counts no more. */
  function restartReply() {
    const row = rows.findLast((one) => one.kind === 'assistant');
    if (row?.kind !== 'assistant' || !row.streaming) return;
    row.parts = [];
    row.version = ++clock;
  }

  /** @param {any} data @returns {void} */
  function endTurn(data) {
    if (data.joins) return; // another message's end is that of the turn which answered both
    const id = `end:${data.itemId}`;
    const isAnswered = data.error || turn.model() || rows.some((row) => row.kind === 'assistant' && row.streaming);
    /** @type {EndRow} */
    const end = {
      kind: 'end',
      id,
      version: ++clock,
      usage: data.usage,
      ms: data.ms,
      model: turn.model() ?? running?.model,
      stopReason: data.stopReason,
      error: data.error,
      notes: isAnswered ? [] : (data.payloads ?? []).flatMap((/** @type {any} */ payload) => payload.text ?? []),
    };
    putEnd(end, data.itemId);
    for (const row of rows) {
      if (row.kind !== 'assistant' || !row.streaming) continue;
      row.streaming = false;
      row.version = ++clock;
    }
    running = undefined;
    turn = createTurn();
  }

  /** At the end of its own turn, whatever came after. @param {EndRow} end @param {string} itemId */
  function putEnd(end, itemId) {
    const old = rows.findIndex((row) => row.id === end.id);
    const asked = rows.findIndex((row) => row.kind === 'user' && row.itemId === itemId);
    const next = rows.findIndex((row, i) => i > asked && row.kind === 'user');
    if (old >= 0) rows[old] = end;
    else if (asked < 0 || next < 0) rows.push(end);
    else rows.splice(next, 0, end);
    byId.set(end.id, end);
  }

  /** @type {Record<string, (data: any) => void>} */
  const on = {
    agent_start: ({ itemId, model }) => {
      if (running?.itemId !== itemId) closeTurn();
      running = { itemId, model, since: Date.now() };
    },
    message_start: ({ messageId }) => void assistantRow(messageId),
    message_update: append,
    message_end: ({ messageId, message, itemId }) => {
      addMessage(message, messageId, itemId);
      turn.sawMessage(message);
    },
    tool_execution_start: ({ callId }) => setTool(callId, { state: 'running' }),
    tool_execution_update: ({ callId, partial }) => setTool(callId, { partial }),
    tool_execution_end: ({ callId, result, ms }) => setTool(callId, { state: result.isError ? 'error' : 'ok', result, ms }),
    model_switched: noteSwitch,
    model_waiting: ({ model, reason, ms }) =>
      note(`${model} rests (${reason.replaceAll('_', ' ')}); asked again in ${Math.max(1, Math.ceil(ms / 1000))} s`),
    turn_waiting: ({ message }) => note(message),
    reply_restarted: restartReply,
    auto_compaction_start: () => note('The conversation is getting long: making room…'),
    auto_compaction_end: noteCompaction,
    context_window_warning: ({ message }) => note(message),
    agent_end: endTurn,
  };

  return {
    clear,
    load,
    /** @param {LiveEvent} event */
    apply(event) {
      on[event.type]?.(event.data);
      changed();
    },
    /** What became of an item of whose end no message tells: its stored answer. @param {string} itemId @param {any} delivery */
    tell(itemId, { meta, payloads }) {
      if (meta.joins) return; // the answer stands where the turn gave it
      const { usage, stopReason, error } = meta;
      const id = `end:${itemId}`;
      const old = byId.get(id);
      const end = old?.kind === 'end' ? old : undefined;
      // Of a turn that left replies the words stand there already.
      const notes = error || end ? [] : payloads.flatMap((/** @type {any} */ payload) => payload.text ?? []);
      putEnd({ kind: 'end', id, version: ++clock, usage, ms: end?.ms, model: end?.model, stopReason, error, notes }, itemId);
      changed();
    },
    get unanswered() {
      return unanswered;
    },
    get rows() {
      return rows;
    },
    /** That of the turn under way, else the last one that answered. */
    get model() {
      const end = rows.findLast((row) => row.kind === 'end' && row.model);
      return running?.model ?? turn.model() ?? (end?.kind === 'end' ? end.model : undefined);
    },
    get running() {
      return running;
    },
    /** @param {string | undefined} callId @returns {ToolState | undefined} */
    tool: (callId) => (callId ? tools.get(callId) : undefined),
    /** @param {string} itemId */
    hasItem: (itemId) => rows.some((row) => row.kind === 'user' && row.itemId === itemId),
  };
}

/** @typedef {ReturnType<typeof createChatLog>} ChatLog */

/** @param {number} count */
const thousands = (count) => Math.round(count).toLocaleString('en');

/** @param {string} kind @returns {Part} */
const newPart = (kind) =>
  kind === 'toolCall' ? { kind: 'tool', name: '', argsText: '' } : { kind: kind === 'thinking' ? kind : 'text', text: '' };

/** @param {string | readonly Content[]} content @returns {readonly Content[]} */
const partsOf = (content) => (typeof content === 'string' ? [{ type: 'text', text: content }] : content);

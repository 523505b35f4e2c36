// @ts-check
/**
 * What one session shows: rows made from its stored entries, kept up by live events. No DOM.
 * Taking the same message twice (stored and replayed) changes nothing.
 */

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
 * @typedef {UserRow | AssistantRow | EndRow} Row
 * @typedef {{ state: 'running' | 'ok' | 'error', result?: ToolResult, partial?: ToolResult, ms?: number, rowId?: string | undefined }} ToolState
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

  /** @param {any} data @returns {void} */
  function endTurn(data) {
    const id = `end:${data.itemId}`;
    const isAnswered = data.error || turn.model() || rows.some((row) => row.kind === 'assistant' && row.streaming);
    /** @type {EndRow} */
    const end = {
      ...{ kind: 'end', id, version: ++clock, usage: data.usage, ms: data.ms },
      ...{ model: turn.model() ?? running?.model, stopReason: data.stopReason, error: data.error },
      notes: isAnswered ? [] : (data.payloads ?? []).flatMap((/** @type {any} */ payload) => payload.text ?? []),
    };
    const at = rows.findIndex((row) => row.id === id);
    if (at < 0) add(end);
    else {
      rows[at] = end;
      byId.set(id, end);
    }
    for (const row of rows) {
      if (row.kind !== 'assistant' || !row.streaming) continue;
      row.streaming = false;
      row.version = ++clock;
    }
    running = undefined;
    turn = createTurn();
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
    get rows() {
      return rows;
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

/** Gathers what the messages of one turn tell about its end. */
function createTurn() {
  /** @type {AssistantMessage | undefined} */
  let last;
  let itemId = '';
  let startedAt = 0;
  let endedAt = 0;
  /** @type {Usage | undefined} */
  let usage;

  /** @param {Message} message */
  function sawMessage(message) {
    if (message.role !== 'assistant') return;
    last = message;
    usage = usage ? sum(usage, message.usage) : message.usage;
  }

  return {
    sawMessage,
    /** @param {Entry} entry */
    saw(entry) {
      sawMessage(entry.message);
      itemId ||= entry.itemId ?? entry.id;
      const at = Date.parse(entry.timestamp);
      if (entry.message.role === 'user') startedAt = at;
      if (entry.message.role === 'assistant') endedAt = at;
    },
    itemId: () => itemId,
    model: () => last && `${last.provider}/${last.model}`,
    /** @returns {EndRow | undefined} */
    end() {
      if (!last) return undefined;
      const { stopReason, errorMessage } = last;
      const ms = startedAt && endedAt > startedAt ? endedAt - startedAt : undefined;
      const error = stopReason === 'error' ? { message: errorMessage ?? 'The model failed.' } : undefined;
      const model = `${last.provider}/${last.model}`;
      return { kind: 'end', id: `end:${itemId}`, version: 0, usage, ms, model, stopReason, error, notes: [] };
    },
  };
}

/** @param {string} kind @returns {Part} */
const newPart = (kind) =>
  kind === 'toolCall' ? { kind: 'tool', name: '', argsText: '' } : { kind: kind === 'thinking' ? kind : 'text', text: '' };

/** @param {string | readonly Content[]} content @returns {readonly Content[]} */
const partsOf = (content) => (typeof content === 'string' ? [{ type: 'text', text: content }] : content);

/** @param {Usage} a @param {Usage} b @returns {Usage} */
const sum = (a, b) => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite: a.cacheWrite + b.cacheWrite,
  totalTokens: a.totalTokens + b.totalTokens,
  ...((a.cost || b.cost) && { cost: { total: (a.cost?.total ?? 0) + (b.cost?.total ?? 0) } }),
});

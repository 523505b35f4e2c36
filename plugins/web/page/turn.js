// @ts-check

/**
 * @typedef {import('../../sessions/contract.ts').Message} Message
 * @typedef {import('../../sessions/contract.ts').AssistantMessage} AssistantMessage
 * @typedef {import('../../sessions/contract.ts').Entry} Entry
 * @typedef {import('../../sessions/contract.ts').Usage} Usage
 * @typedef {import('./chat-log.js').EndRow} EndRow
 */

/** Gathers what the messages of one turn tell about its end. */
export function createTurn() {
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
    /** Its last reply is an answer, or tells the failure: one that called tools is neither. */
    isAnswered: () => last !== undefined && !last.content.some(({ type }) => type === 'toolCall'),
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

/** @param {Usage} a @param {Usage} b @returns {Usage} */
const sum = (a, b) => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite: a.cacheWrite + b.cacheWrite,
  totalTokens: a.totalTokens + b.totalTokens,
  ...((a.cost || b.cost) && { cost: { total: (a.cost?.total ?? 0) + (b.cost?.total ?? 0) } }),
});

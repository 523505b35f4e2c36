// @ts-check
/**
 * Messages on their way: kept in the browser until the gateway's transcript shows them. Each has an idempotency key,
 * so that sending again after a lost socket or a refresh is not a second message.
 */
import { h } from './element.js';
import { keep, keptJson } from './keep.js';
import { errorCard, userBubble } from './message.js';

/**
 * @typedef {{ key: string, sessionKey: string, agentId: string | undefined, text: string, at: number, itemId?: string,
 *   error?: { code: string, message: string } | undefined }} Outgoing
 * @typedef {import('./connection.js').Connection['call']} Call
 */

// Older than this, a message that never got out is not sent behind its writer's back: it waits for a click.
const freshMs = 10 * 60_000;

/**
 * @param {{ call: Call, onChange: () => void, onAccepted: (message: Outgoing, sessionKey: string) => void, onEdit: (text: string) => void }} options
 */
export function createOutgoing({ call, onChange, onAccepted, onEdit }) {
  /** @type {Outgoing[]} */
  let messages = keptJson('outgoing', []);
  /** @type {Map<Outgoing, HTMLElement>} */
  const nodes = new Map();

  function save() {
    keep('outgoing', messages.length > 0 ? JSON.stringify(messages) : undefined);
    onChange();
  }

  /** @param {Outgoing} message */
  function drop(message) {
    messages = messages.filter((other) => other !== message);
    nodes.delete(message);
    save();
  }

  /** @param {Outgoing} message */
  async function send(message) {
    const { sessionKey, agentId, text, key } = message;
    message.error = undefined;
    nodes.delete(message);
    save();
    try {
      const receipt = await call('chat.send', { sessionKey, text, idempotencyKey: key, ...(agentId && { agentId }) });
      message.itemId = receipt.itemId;
      message.sessionKey = receipt.sessionKey ?? sessionKey;
      onAccepted(message, sessionKey);
    } catch (error) {
      const { code, message: why } = /** @type {import('./connection.js').CallError} */ (error);
      // A lost socket says nothing about the message: it goes out again, under its key, with the next connection.
      if (code !== 'CONNECTION_LOST' && code !== 'CALL_TIMEOUT') fail(message, { code, message: why });
    }
    nodes.delete(message);
    save();
  }

  /** @param {Outgoing} message @param {{ code: string, message: string }} error */
  function fail(message, error) {
    message.error = error;
    nodes.delete(message);
    save();
  }

  /** @param {Outgoing} message */
  function draw(message) {
    const retry = h('button', { type: 'button', onclick: () => void send(message) }, 'Try again');
    const edit = h('button', { type: 'button', onclick: () => (drop(message), onEdit(message.text)) }, 'Edit');
    const state = h('p', { class: 'hint' }, message.itemId ? 'Waiting for its turn' : 'Sending…');
    const about = message.error ? errorCard(message.error, retry, edit) : state;
    return h('article', { class: 'row user outgoing' }, userBubble([{ type: 'text', text: message.text }]), about);
  }

  return {
    /** @param {string} sessionKey @param {string | undefined} agentId @param {string} text */
    add(sessionKey, agentId, text) {
      const message = { key: crypto.randomUUID?.() ?? randomKey(), sessionKey, agentId, text, at: Date.now() };
      messages.push(message);
      void send(message);
    },
    /** Everything without a receipt goes out again; settles when all have one, or the socket is lost again. */
    async resend() {
      const unsent = messages.filter((message) => !message.itemId && !message.error);
      const stale = (/** @type {Outgoing} */ message) => Date.now() - message.at > freshMs;
      for (const message of unsent.filter(stale)) fail(message, { code: 'NOT_SENT', message: 'This message was never sent.' });
      await Promise.all(unsent.filter((message) => !stale(message)).map(send));
    },
    /** Drops what the transcript shows by now, and learns what became of the rest. @param {import('./chat-log.js').ChatLog} log @param {string} sessionKey */
    settle(log, sessionKey) {
      for (const message of messages.filter((each) => each.sessionKey === sessionKey)) {
        const { itemId } = message;
        if (!itemId || message.error) continue;
        if (log.hasItem(itemId)) drop(message);
        else void this.ask(itemId);
      }
    },
    /** @param {string} itemId */
    async ask(itemId) {
      const { state, delivery } = await call('chat.result', { itemId }).catch(() => ({})); // asked again after the next connect
      const gone = { code: 'GONE', message: 'The gateway does not know this message any more.' };
      if (state === 'done' || state === 'unknown') this.ended(itemId, state === 'done' ? delivery.meta.error : gone);
    },
    /** Its turn is over: if the message never joined the transcript, it is offered again. @param {string} itemId @param {{ code: string, message: string } | undefined} error */
    ended(itemId, error) {
      const message = messages.find((each) => each.itemId === itemId && !each.error);
      if (!message) return;
      if (!error) {
        drop(message);
        return;
      }
      // Under its old key it would be the same, ended item.
      message.key = randomKey();
      delete message.itemId;
      fail(message, error);
    },
    /** A user message joined the transcript: ours by its item, or by its text while the receipt is under way. @param {string | undefined} itemId @param {string} text @param {string} sessionKey */
    joined(itemId, text, sessionKey) {
      const mine = messages.filter((message) => message.sessionKey === sessionKey && !message.error);
      const found = mine.find((message) => message.itemId && message.itemId === itemId);
      const guess = found ?? mine.find((message) => !message.itemId && message.text === text);
      if (guess) drop(guess);
    },
    /** @param {string} sessionKey */
    nodes: (sessionKey) =>
      messages
        .filter((message) => message.sessionKey === sessionKey)
        .map((message) => {
          const node = nodes.get(message) ?? draw(message);
          nodes.set(message, node);
          return node;
        }),
    /** @param {string} sessionKey */
    forget(sessionKey) {
      messages = messages.filter((message) => message.sessionKey !== sessionKey);
      save();
    },
  };
}

const randomKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

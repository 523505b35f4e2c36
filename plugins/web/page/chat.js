// @ts-check
/** The open chat: log, transcript, composer and messages under way, held together. */
import { announce, announceReply } from './announcer.js';
import { createChatLog } from './chat-log.js';
import { createComposer } from './composer.js';
import { byId, h, setText } from './element.js';
import { createFeed } from './feed.js';
import { createOutgoing } from './outgoing.js';
import { toastError } from './toast.js';
import { createTranscript } from './transcript.js';

const mostAsked = 5;

/**
 * @typedef {import('../../events/contract.ts').LiveEvent} LiveEvent
 * @typedef {import('../../sessions/contract.ts').SessionRecord} SessionRecord
 * @typedef {import('./composer.js').Agent} Agent
 * @param {{
 *   call: import('./connection.js').Connection['call'],
 *   onGlobal: (event: LiveEvent) => void,
 *   onMoved: (sessionKey: string) => void,
 *   find: (sessionKey: string) => SessionRecord | undefined,
 * }} options
 */
export function createChat({ call, onGlobal, onMoved, find }) {
  const title = byId('h1', 'title');
  const subtitle = byId('p', 'subtitle');
  const welcome = byId('section', 'welcome');
  const working = h('div', { class: 'row working', role: 'img', 'aria-label': 'Working' }, h('span'), h('span'), h('span'));
  let sessionKey = '';
  let isSynced = false;
  /** @type {readonly Agent[]} */
  let agents = [];
  let defaultAgent = 'main';

  const log = createChatLog(() => !feed.isSettling && show());
  const outgoing = createOutgoing({
    call,
    onChange: () => show(),
    onAccepted: (message, asked) => {
      if (asked === sessionKey && message.sessionKey !== asked) onMoved(message.sessionKey);
      else if (log.hasItem(message.itemId ?? '')) outgoing.settle(log, sessionKey);
    },
    onEdit: (text) => composer.put(text),
  });
  const transcript = createTranscript(log, () => [...outgoing.nodes(sessionKey), ...(isQuietlyWorking() ? [working] : [])]);
  const composer = createComposer({
    onAgent: (id) => onMoved(newChatKey(id)),
    onSend(text) {
      outgoing.add(sessionKey, agentOf(sessionKey), text);
      transcript.follow();
      show();
    },
    onStop: () =>
      void call('chat.stop', { sessionKey }).catch((error) => {
        composer.stopFailed();
        toastError(error, 'The stop was not heard');
      }),
  });
  const feed = createFeed({
    call,
    log,
    onGlobal(event) {
      if (event.type === 'agent_end') {
        const end = /** @type {import('../../chat/contract.ts').TurnEvents['agent_end']} */ (event.data);
        outgoing.ended(end.itemId, end.error);
      }
      onGlobal(event);
    },
    onSynced() {
      isSynced = true;
      outgoing.settle(log, sessionKey);
      for (const itemId of log.unanswered.slice(-mostAsked)) void tellEnd(itemId);
      show();
    },
    onFailed: (error) => toastError(error, 'This chat could not be read'),
  });

  /** A turn that failed before its first word is in no transcript; its stored answer says why. @param {string} itemId */
  async function tellEnd(itemId) {
    const asked = sessionKey;
    const { delivery } = await call('chat.result', { itemId }).catch(() => ({})); // gone by now: there is nothing to tell
    if (delivery && asked === sessionKey) log.tell(itemId, delivery);
  }

  /** Before the first word, or between a tool's end and the next: something is going on. */
  function isQuietlyWorking() {
    const last = log.rows.at(-1);
    if (!log.running) return false;
    if (last?.kind === 'assistant' && last.parts.some((part) => part.kind === 'tool' && log.tool(part.callId)?.state === 'running'))
      return false;
    return last?.kind !== 'assistant' || !last.streaming || last.parts.filter(Boolean).length === 0;
  }

  const isEmpty = () => log.rows.length === 0 && outgoing.nodes(sessionKey).length === 0;
  const isNew = () => isEmpty() && !find(sessionKey);

  function show() {
    const session = find(sessionKey);
    welcome.hidden = !isEmpty() || !isSynced;
    composer.running(log.running !== undefined);
    composer.open(sessionKey, isNew());
    composer.showAgents(isNew());
    setText(title, session?.title || 'New chat');
    document.title = session?.title ? `${session.title} · Instar` : 'Instar';
    const agentId = session?.agentId ?? agentOf(sessionKey) ?? defaultAgent;
    setText(subtitle, [agents.length > 1 && nameOf(agentId), log.model].filter(Boolean).join(' · '));
    transcript.schedule();
  }

  /** @param {string} id */
  const nameOf = (id) => agents.find((agent) => agent.id === id)?.name ?? id;

  /** @param {LiveEvent} event */
  function receive(event) {
    if (event.sessionKey === sessionKey && event.type === 'message_end') {
      const { message, itemId } = /** @type {import('../../chat/contract.ts').TurnEvents['message_end']} */ (event.data);
      if (message.role === 'user') outgoing.joined(itemId, textOf(message), sessionKey);
      else if (isSynced) announceReply(message);
    }
    feed.receive(event);
  }

  return {
    receive,
    show,
    composer,
    outgoing,
    redraw: () => transcript.redraw(),
    get sessionKey() {
      return sessionKey;
    },
    newKey: () => newChatKey(defaultAgent),
    /** @param {string} key */
    open(key) {
      sessionKey = key;
      isSynced = false;
      transcript.startAtEnd();
      feed.open(key);
      show();
      composer.agents(agents, agentOf(key) ?? defaultAgent);
      composer.focus();
    },
    /** After a connect: what was on its way first, so that the stored entries already hold it. */
    async resync() {
      await outgoing.resend();
      feed.resync();
    },
    stop() {
      if (log.running) announce('Stopping');
      composer.stop();
    },
    /** @param {readonly Agent[]} all @param {string} defaultId */
    setAgents(all, defaultId) {
      agents = all;
      defaultAgent = defaultId;
      composer.agents(all, agentOf(sessionKey) ?? defaultId);
      show();
    },
  };
}

/** Made here, so that a message can be sent again after a refresh and land in the same chat. @param {string} agentId */
function newChatKey(agentId) {
  const id = Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `agent:${agentId}:page-${id}`;
}

/** @param {string} key */
const agentOf = (key) => /^agent:([^:]+):/.exec(key)?.[1];

/** @param {import('../../sessions/contract.ts').UserMessage} message */
const textOf = ({ content }) =>
  typeof content === 'string' ? content : content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

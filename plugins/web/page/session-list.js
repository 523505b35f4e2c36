// @ts-check
/** The chats, newest first, in groups by day. */
import { byId, h, place } from './element.js';
import { dayGroup, fullTime, when } from './format.js';
import { icon } from './icons.js';

/**
 * @typedef {import('../../sessions/contract.ts').SessionRecord} SessionRecord
 * @param {{ onRemove: (session: SessionRecord) => void }} options
 */
export function createSessionList({ onRemove }) {
  const list = byId('nav', 'sessions');
  /** @type {Map<string, SessionRecord>} */
  let sessions = new Map();
  /** @type {Set<string>} */
  let busy = new Set();
  /** @type {Map<string, { text: string, node: HTMLElement }>} */
  const drawn = new Map();
  let open = '';
  let asksAbout = '';
  let showsAgents = false;
  let defaultAgent = '';

  function draw() {
    const shown = [...sessions.values()].filter((session) => !session.ephemeral).toSorted((a, b) => b.updatedAt - a.updatedAt);
    const groups = Map.groupBy(shown, (session) => dayGroup(session.updatedAt));
    const sections = [...groups].map(([name, members]) =>
      h('section', {}, h('h2', {}, name), h('ul', {}, ...members.map((session) => h('li', {}, item(session))))),
    );
    const focused = /** @type {HTMLElement | null} */ (list.contains(document.activeElement) ? document.activeElement : null);
    place(list, sections.length > 0 ? sections : [h('p', { class: 'hint' }, 'Chats will be listed here.')]);
    // An element that moves loses the focus.
    if (focused?.isConnected) focused.focus();
  }

  /** Kept as long as it reads the same, so that focus stays on it. @param {SessionRecord} session */
  function item(session) {
    const { key, title, updatedAt } = session;
    const text = JSON.stringify([title, when(updatedAt), key === open, key === asksAbout, busy.has(key), showsAgents]);
    const kept = drawn.get(key);
    if (kept?.text === text) return kept.node;
    const node = key === asksAbout ? question(session) : line(session);
    drawn.set(key, { text, node });
    return node;
  }

  /** @param {SessionRecord} session */
  function line(session) {
    const { key, title, agentId, updatedAt } = session;
    const isOpen = key === open;
    const remove = h(
      'button',
      { type: 'button', class: 'quiet', 'aria-label': `Delete “${title || 'Untitled'}”`, title: 'Delete' },
      icon('trash'),
    );
    remove.onclick = () => ask(key);
    const about = busy.has(key) ? h('span', { class: 'busy', role: 'img', 'aria-label': 'working' }) : when(updatedAt);
    return h(
      'div',
      { class: 'session' },
      h(
        'a',
        {
          href: chatHash(key),
          'aria-current': isOpen && 'page',
          title: [title, showsAgents && agentId, fullTime(updatedAt)].filter(Boolean).join('\n'),
        },
        showsAgents && agentId !== defaultAgent && h('span', { class: 'tag' }, agentId),
        h('span', { class: 'session-title' }, title || 'Untitled'),
        h('span', { class: 'session-about' }, about),
      ),
      remove,
    );
  }

  /** @param {SessionRecord} session */
  function question(session) {
    const yes = h('button', { type: 'button', class: 'danger' }, 'Delete');
    const no = h('button', { type: 'button' }, 'Keep');
    yes.onclick = () => (ask(''), onRemove(session));
    no.onclick = () => ask('');
    return h(
      'div',
      { class: 'session asks', role: 'group', 'aria-label': 'Delete this chat?' },
      h('span', {}, 'Delete this chat?'),
      yes,
      no,
    );
  }

  /** @param {string} key */
  function ask(key) {
    asksAbout = key;
    draw();
    drawn.get(key)?.node.querySelector('button')?.focus();
  }

  setInterval(draw, 60_000); // times grow older
  return {
    /** @param {readonly SessionRecord[]} all */
    set(all) {
      sessions = new Map(all.map((session) => [session.key, session]));
      draw();
    },
    /** @param {SessionRecord} session */
    put(session) {
      sessions.set(session.key, session);
      draw();
    },
    /** @param {string} key */
    remove(key) {
      sessions.delete(key);
      draw();
    },
    /** @param {readonly string[]} keys */
    setBusy(keys) {
      busy = new Set(keys);
      draw();
    },
    /** @param {string} key @param {boolean} isBusy */
    mark(key, isBusy) {
      const session = sessions.get(key);
      if (session) sessions.set(key, { ...session, updatedAt: Date.now() });
      if (isBusy) busy.add(key);
      else busy.delete(key);
      draw();
    },
    /** @param {string} key */
    open(key) {
      open = key;
      draw();
    },
    /** Where there are several agents, a chat with another than the default says so. @param {number} count @param {string} defaultId */
    setAgents(count, defaultId) {
      showsAgents = count > 1;
      defaultAgent = defaultId;
      draw();
    },
    /** @param {string} key */
    find: (key) => sessions.get(key),
  };
}

/** @param {string} key */
export const chatHash = (key) => `#chat/${encodeURIComponent(key)}`;

// @ts-check
/** Puts the page together: token, connection, views, and which of them the address shows. */
import { announce } from './announcer.js';
import { createApprovals } from './approval.js';
import { createBudgetPanel } from './budget-panel.js';
import { createChat } from './chat.js';
import { openConnection } from './connection.js';
import { createDrawer } from './drawer.js';
import { byId, h } from './element.js';
import { drawIcons } from './icons.js';
import { createLinkState } from './link-state.js';
import { createPluginsView } from './plugins-view.js';
import { createPolicyView } from './policy-view.js';
import { chatHash, createSessionList } from './session-list.js';
import { startThemeToggle } from './theme-toggle.js';
import { toast, toastError } from './toast.js';
import { askToken, forgetToken, takeToken } from './token.js';
import { loadMarkdown } from './vendor.js';

/** @typedef {import('../../events/contract.ts').LiveEvent} LiveEvent */

drawIcons(document);
startThemeToggle();
start(takeToken() ?? (await askToken()));

/** @param {string} token */
function start(token) {
  const linkState = createLinkState({ onRetry: () => connection.retryNow() });
  const connection = openConnection({ token, onState: onLink, onEvent: (event) => chat.receive(event) });
  const { call } = connection;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let listing;
  const drawer = createDrawer();
  const sessions = createSessionList({ onRemove: (session) => void removeSession(session.key) });
  const approvals = createApprovals({
    call,
    announce,
    onError: (error) => toastError(error, 'The answer was not taken'),
    otherChat: (key) => (key === chat.sessionKey ? undefined : (sessions.find(key)?.title ?? key)),
  });
  const chat = createChat({ call, onGlobal, onMoved: (key) => go(chatHash(key), true), find: (key) => sessions.find(key) });
  const signOut = h('button', { type: 'button', onclick: leave }, 'Forget the token on this device');
  const plugins = createPluginsView({
    call,
    onError: (error) => isPluginsShown() && toastError(error, 'The status could not be read'),
    actions: [signOut],
  });
  const budget = createBudgetPanel({ call });
  const policy = createPolicyView({ call, onError: (error) => toastError(error, 'Policy did not answer') });

  /** @param {import('./connection.js').LinkState} state */
  function onLink(state) {
    linkState.show(state);
    document.body.dataset['link'] = state.phase;
    if (state.phase === 'refused') void askToken(state.why).then(() => location.reload());
    if (state.phase === 'open') void connected();
  }

  async function connected() {
    await Promise.all([approvals.sync(), chat.resync(), listSessions(), listAgents(), markBusy()].map(optional));
    void plugins.refresh();
    void budget.refresh();
    if (isPolicyShown()) void policy.refresh();
  }

  async function listSessions() {
    const { sessions: all } = await call('sessions.list', { limit: 200 });
    sessions.set(all);
    chat.show();
  }

  async function listAgents() {
    const { agents, defaultId } = await call('agents.list');
    sessions.setAgents(agents.length, defaultId);
    chat.setAgents(agents, defaultId);
    policy.setAgents(agents, defaultId);
  }

  async function markBusy() {
    const { active = [] } = await call('status');
    sessions.setBusy(active.map((/** @type {{ sessionKey: string }} */ turn) => turn.sessionKey));
  }

  /** @param {string | undefined} key @param {boolean} isBusy */
  function mark(key = '', isBusy = false) {
    sessions.mark(key, isBusy);
    if (sessions.find(key)) return;
    listing ??= setTimeout(() => {
      listing = undefined;
      void optional(listSessions());
    }, 200);
  }

  /** @type {Record<string, (data: any, event: LiveEvent) => void>} */
  const news = {
    agent_start: (_, event) => mark(event.sessionKey, true),
    agent_end: (_, event) => (mark(event.sessionKey, false), budget.refreshSoon()),
    session_changed: ({ session }) => (sessions.put(session), chat.show()),
    approval_requested: ({ question }) => approvals.requested(question),
    approval_resolved: ({ id }) => approvals.resolved(id),
    generation_swapped: ({ generation, built, removed, ms }) => {
      const names = built.map((/** @type {{ plugin: string }} */ each) => each.plugin);
      const changes = [names.length > 0 && `rebuilt ${names.join(', ')}`, removed.length > 0 && `removed ${removed.join(', ')}`];
      const told = changes.filter(Boolean).join('; ');
      if (told) toast(`Generation ${generation} is live`, `${told} (${Math.round(ms)} ms)`);
      void plugins.refresh();
      void budget.refresh();
      if (isPolicyShown()) void policy.refresh();
    },
    generation_rejected: ({ error }) => toast('A change was rejected; the last good generation goes on', error, 'problem'),
    plugin_fault: (fault) => {
      plugins.fault(fault);
      if (fault.count === 1 && !isPluginsShown()) toast(`Plugin "${fault.plugin}" has a fault`, fault.message, 'problem', fault.plugin);
    },
  };

  /** @param {LiveEvent} event */
  function onGlobal(event) {
    news[event.type]?.(event.data, event);
  }

  /** @param {string} key */
  async function removeSession(key) {
    try {
      await call('sessions.remove', { sessionKey: key });
      sessions.remove(key);
      chat.outgoing.forget(key);
      if (key === chat.sessionKey) go(chatHash(chat.newKey()), true);
    } catch (error) {
      toastError(error, 'The chat was not deleted');
    }
  }

  function show() {
    // The address that the start prints, opened in a page that is open already.
    if (location.hash.startsWith('#token=')) {
      takeToken();
      return location.reload();
    }
    const key = keyInAddress();
    if (!isPluginsShown() && !isPolicyShown() && !key) return go(chatHash(chat.newKey()), true);
    document.body.dataset['view'] = isPluginsShown() ? 'plugins' : isPolicyShown() ? 'policy' : 'chat';
    byId('a', 'plugins-link').toggleAttribute('aria-current', isPluginsShown());
    byId('a', 'policy-link').toggleAttribute('aria-current', isPolicyShown());
    if (isPluginsShown()) {
      document.title = 'Plugins · Instar';
      void plugins.refresh();
    }
    if (isPolicyShown()) {
      document.title = 'Policy · Instar';
      void policy.refresh();
    }
    if (key && key !== chat.sessionKey) chat.open(key);
    else if (key) chat.show();
    sessions.open(key ?? '');
    drawer.close();
    return undefined;
  }

  /** @param {string} hash @param {boolean} [replaces] */
  function go(hash, replaces = false) {
    if (replaces) history.replaceState(null, '', hash);
    else history.pushState(null, '', hash);
    show();
  }

  function leave() {
    forgetToken();
    location.assign(location.pathname);
  }

  addEventListener('hashchange', show);
  byId('button', 'new-chat').onclick = () => go(chatHash(chat.newKey()));
  for (const button of byId('section', 'welcome').querySelectorAll('button')) {
    button.onclick = () => chat.composer.put(button.textContent);
  }
  addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing || document.querySelector('dialog[open]')) return;
    if (!drawer.close()) chat.stop();
  });
  show();
  void loadMarkdown().then(chat.redraw);
}

/** A plugin that answers this may be switched off; a lost socket shows by itself. @param {Promise<unknown>} asked */
function optional(asked) {
  return asked.catch((error) => {
    if (error.code !== 'GATEWAY_NO_METHOD' && error.code !== 'CONNECTION_LOST') toastError(error, 'Not all could be read');
  });
}

function keyInAddress() {
  try {
    return decodeURIComponent(/^#chat\/(.+)$/.exec(location.hash)?.[1] ?? '') || undefined;
  } catch {
    return undefined; // not an address that this page made
  }
}

function isPluginsShown() {
  return location.hash === '#plugins';
}

function isPolicyShown() {
  return location.hash === '#policy';
}

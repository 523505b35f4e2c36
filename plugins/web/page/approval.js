// @ts-check
/** Questions that wait for a person: exactly what is asked, by whom, where, and how long there still is. */
import { byId, h, setText } from './element.js';
import { visible } from './format.js';
import { icon } from './icons.js';
import { chatHash } from './session-list.js';

/**
 * @typedef {import('../../approvals/contract.ts').Question} Question
 * @typedef {import('../../approvals/contract.ts').Answer} Answer
 * @typedef {{ question: Question, node: HTMLElement, until: number, left: HTMLElement }} Card
 */

/** @type {readonly { answer: Answer, label: string, class: string }[]} */
const answers = [
  { answer: 'once', label: 'Allow once', class: 'primary' },
  { answer: 'always', label: 'Always', class: '' },
  { answer: 'deny', label: 'Deny', class: 'danger' },
];

/**
 * @param {{
 *   call: import('./connection.js').Connection['call'],
 *   announce: (text: string) => void,
 *   onError: (error: unknown) => void,
 *   otherChat: (sessionKey: string) => string | undefined,
 * }} options `otherChat` is the title of a chat that is not the one in view.
 */
export function createApprovals({ call, announce, onError, otherChat }) {
  const dock = byId('section', 'approvals');
  /** @type {Map<string, Card>} */
  const cards = new Map();
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let ticking;

  /** @param {Question} question @param {number} leftMs */
  function add(question, leftMs) {
    if (cards.has(question.id) || leftMs <= 0) return;
    const left = h('span', { class: 'countdown' });
    const card = { question, node: h('article'), until: Date.now() + leftMs, left };
    card.node = draw(card, otherChat(question.sessionKey), (answer) => void settle(card, answer));
    cards.set(question.id, card);
    dock.append(card.node);
    ticking ??= setInterval(tick, 250);
    tick();
    announce(`Permission needed: ${question.tool}: ${question.what}`);
  }

  /** @param {Card} card @param {Answer} answer */
  async function settle(card, answer) {
    for (const button of card.node.querySelectorAll('button')) button.disabled = true;
    try {
      await call('approvals.answer', { id: card.question.id, answer });
      remove(card.question.id);
    } catch (error) {
      for (const button of card.node.querySelectorAll('button')) button.disabled = false;
      onError(error);
    }
  }

  /** @param {string} id */
  function remove(id) {
    const card = cards.get(id);
    if (!card) return;
    const hadFocus = card.node.contains(document.activeElement);
    card.node.remove();
    cards.delete(id);
    if (hadFocus) (dock.querySelector('button') ?? byId('textarea', 'text')).focus();
    if (cards.size > 0) return;
    clearInterval(ticking);
    ticking = undefined;
  }

  function tick() {
    for (const card of cards.values()) {
      const seconds = Math.ceil((card.until - Date.now()) / 1000);
      setText(card.left, seconds > 0 ? `${seconds} s` : 'No answer is a no');
      card.node.classList.toggle('urgent', seconds <= 10);
      if (seconds <= 0) for (const button of card.node.querySelectorAll('button')) button.disabled = true;
      if (seconds <= -2) remove(card.question.id);
    }
  }

  return {
    /** After each connect: someone is here who can answer, and this is what waits. */
    async sync() {
      await call('approvals.attend', { name: 'page' });
      /** @type {{ questions: Question[] }} */
      const { questions } = await call('approvals.list');
      const waiting = new Set(questions.map((question) => question.id));
      for (const id of cards.keys()) if (!waiting.has(id)) remove(id);
      // Another machine's clock may be off: never more than the whole time.
      for (const question of questions) add(question, Math.min(question.expiresAt - Date.now(), wholeTime(question)));
    },
    /** @param {Question} question */
    requested: (question) => add(question, wholeTime(question)),
    resolved: remove,
  };
}

/** @param {Question} question */
const wholeTime = (question) => question.expiresAt - question.askedAt;

/** @param {Card} card @param {string | undefined} chat @param {(answer: Answer) => void} onAnswer */
function draw({ question, left }, chat, onAnswer) {
  const { tool, what, why, agent, cwd, sessionKey, reasons, always } = question;
  const buttons = answers
    .filter(({ answer }) => answer !== 'always' || always.length > 0)
    .map((each) => h('button', { type: 'button', class: each.class, onclick: () => onAnswer(each.answer) }, each.label));
  const facts = [
    ['Agent', agent],
    ['Folder', cwd],
    ['Asker', why.replace(/^asked for by /, '')],
  ].filter(([, text]) => text);
  return h(
    'article',
    { class: 'approval', role: 'group', 'aria-label': `Permission to use ${tool}` },
    h('header', {}, icon('shield'), h('strong', {}, 'Allow ', h('code', {}, tool), '?'), left),
    h('pre', { tabindex: 0, 'aria-label': 'What is asked', dir: 'ltr' }, visible(what)),
    h(
      'dl',
      {},
      ...(chat ? [h('dt', {}, 'Chat'), h('dd', {}, h('a', { href: chatHash(sessionKey) }, visible(chat)))] : []),
      ...facts.flatMap(([name, text]) => [h('dt', {}, name), h('dd', {}, visible(text ?? ''))]),
      ...listed(reasons.length === 1 ? 'Reason' : 'Reasons', reasons),
      ...listed('“Always” adds', always),
    ),
    h('div', { class: 'actions' }, ...buttons),
  );
}

const most = 20;

/**
 * A fact that has several parts, each on a line of its own.
 * @param {string} name @param {readonly string[]} parts
 */
function listed(name, parts) {
  if (parts.length === 0) return [];
  const lines = parts.slice(0, most).map((part) => h('li', {}, visible(part)));
  const more = parts.length > most ? [h('li', { class: 'more' }, `and ${parts.length - most} more`)] : [];
  return [h('dt', {}, name), h('dd', {}, h('ul', {}, ...lines, ...more))];
}

// @ts-check
/** One row of the transcript: what a person wrote, what came back, how a turn ended. */
import { h, setText } from './element.js';
import { duration, fullTime, money, tokens } from './format.js';
import { icon } from './icons.js';
import { createMarkdownView } from './markdown.js';
import { createToolView, picture } from './tool-call.js';

/**
 * @typedef {import('./chat-log.js').Row} Row
 * @typedef {import('./chat-log.js').ChatLog} ChatLog
 * @typedef {{ readonly node: HTMLElement, update: (row: any) => boolean }} RowView `update` is true while it wants another frame.
 */

/** @param {Row} row @param {ChatLog} log @returns {RowView} */
export function createRowView(row, log) {
  if (row.kind === 'assistant') return createAssistantView(log);
  if (row.kind === 'note') return createNoteView();
  return row.kind === 'user' ? createUserView() : createEndView();
}

/** @returns {RowView} */
function createUserView() {
  const node = h('article', { class: 'row user' });
  return {
    node,
    /** @param {import('./chat-log.js').UserRow} row */
    update(row) {
      node.replaceChildren(userBubble(row.content));
      node.title = fullTime(row.at);
      return false;
    },
  };
}

/** @param {readonly import('./chat-log.js').Content[]} content */
export function userBubble(content) {
  const parts = content.map((part) => (part.type === 'text' ? h('p', {}, part.text) : picture(part)));
  return h('div', { class: 'bubble' }, h('span', { class: 'unseen' }, 'You: '), ...parts);
}

/** @param {ChatLog} log @returns {RowView} */
function createAssistantView(log) {
  const node = h('article', { class: 'row assistant' });
  /** @type {(ReturnType<typeof createToolView> | ReturnType<typeof createTextView> | ReturnType<typeof createThinkingView>)[]} */
  const views = [];
  return {
    node,
    /** @param {import('./chat-log.js').AssistantRow} row */
    update(row) {
      let wantsMore = false;
      // A silent reply is in the transcript and says nothing.
      const parts = row.parts.filter((part) => part && (part.kind !== 'text' || part.text.trim() !== 'NO_REPLY'));
      parts.forEach((part, i) => {
        let view = views[i];
        if (view?.kind !== part.kind) {
          const made = createPartView(part.kind);
          if (view) view.node.replaceWith(made.node);
          else node.append(made.node);
          views[i] = view = made;
        }
        if (view.kind === 'tool' && part.kind === 'tool') {
          view.update(part, log.tool(part.callId), row.streaming, log.running !== undefined);
        } else if (view.kind !== 'tool' && part.kind !== 'tool') {
          const isGrowing = row.streaming && i === parts.length - 1;
          if (view.update(part.text, isGrowing)) wantsMore = true;
        }
      });
      for (const extra of views.splice(parts.length)) extra.node.remove();
      return wantsMore;
    },
  };
}

/** @param {import('./chat-log.js').Part['kind']} kind */
function createPartView(kind) {
  if (kind === 'tool') return createToolView();
  return kind === 'text' ? createTextView() : createThinkingView();
}

const wantsStillness = matchMedia('(prefers-reduced-motion: reduce)');

/** Text that arrives in lumps is let in over a few frames, so that it reads as it flows. */
function createTextView() {
  const markdown = createMarkdownView();
  /** @type {number | undefined} */
  let shown;
  let settled = '';
  return {
    kind: /** @type {const} */ ('text'),
    node: markdown.node,
    /** @param {string} text @param {boolean} isGrowing */
    update(text, isGrowing) {
      if (!isGrowing && text === settled && shown !== undefined) return false;
      settled = isGrowing ? '' : text;
      if (shown === undefined || !isGrowing || wantsStillness.matches) shown = text.length;
      else shown = Math.min(text.length, shown + 1 + Math.ceil((text.length - shown) / 6));
      if (/[\ud800-\udbff]/.test(text[shown - 1] ?? '')) shown += 1;
      markdown.node.classList.toggle('growing', isGrowing);
      markdown.update(text.slice(0, shown), !isGrowing);
      return shown < text.length;
    },
  };
}

function createThinkingView() {
  const text = h('div', { class: 'thinking-text' });
  const label = h('span');
  const node = h('details', { class: 'thinking' }, h('summary', {}, icon('thought'), label, icon('chevron')), text);
  return {
    kind: /** @type {const} */ ('thinking'),
    node,
    /** @param {string} thought @param {boolean} isGrowing */
    update(thought, isGrowing) {
      setText(label, isGrowing ? 'Thinking…' : 'Thought');
      node.classList.toggle('growing', isGrowing);
      setText(text, thought.trim());
      node.hidden = thought.trim() === '' && !isGrowing;
      return false;
    },
  };
}

/** @returns {RowView} */
function createNoteView() {
  const node = h('p', { class: 'row note quiet-note', role: 'status' });
  return {
    node,
    /** @param {import('./chat-log.js').NoteRow} row */
    update(row) {
      setText(node, row.text);
      return false;
    },
  };
}

/** @returns {RowView} */
function createEndView() {
  const node = h('footer', { class: 'row end' });
  return {
    node,
    /** @param {import('./chat-log.js').EndRow} row */
    update(row) {
      const isStopped = row.stopReason === 'aborted' && !row.error;
      const isCut = row.stopReason === 'length' && !row.error;
      node.replaceChildren(
        ...row.notes.map((note) => h('p', { class: 'note' }, note)),
        ...(row.error ? [errorCard(row.error)] : []),
        ...(isStopped ? [h('p', { class: 'note quiet-note' }, 'Stopped.')] : []),
        ...(isCut ? [h('p', { class: 'note quiet-note' }, 'The answer reached the longest length the model may write.')] : []),
        ...usageLine(row),
      );
      return false;
    },
  };
}

/** @param {{ code?: string, message: string }} error @param {...Node} actions */
export function errorCard({ code, message }, ...actions) {
  return h(
    'div',
    { class: 'error-card', role: 'group', 'aria-label': 'Error' },
    icon('alert'),
    h('div', {}, code && h('code', {}, code), h('p', {}, message), actions.length > 0 && h('div', { class: 'actions' }, ...actions)),
  );
}

/** @param {import('./chat-log.js').EndRow} row @returns {HTMLElement[]} */
function usageLine({ usage, ms, model }) {
  const cached = (usage?.cacheRead ?? 0) + (usage?.cacheWrite ?? 0);
  const facts = [
    model && fact('Model', model),
    usage && fact('Tokens in', `${tokens(usage.input)} in`),
    usage && fact('Tokens out', `${tokens(usage.output)} out`),
    cached > 0 && usage && fact('Read from the cache / written to it', `cache ${tokens(usage.cacheRead)} / ${tokens(usage.cacheWrite)}`),
    usage?.cost && usage.cost.total > 0 && fact('Cost', money(usage.cost.total)),
    ms !== undefined && fact('Time', duration(ms)),
  ].filter((shown) => shown instanceof HTMLElement);
  return facts.length > 0 ? [h('p', { class: 'usage' }, ...facts)] : [];
}

/** @param {string} title @param {string} text */
const fact = (title, text) => h('span', { title }, text);

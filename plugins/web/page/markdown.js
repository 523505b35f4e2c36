// @ts-check
/**
 * Markdown that grows. Only blocks whose source changed are drawn again, and of a growing text only its last two
 * blocks are read again: what was drawn stands still.
 */
import { createCodeBlock } from './code-block.js';
import { h } from './element.js';
import { loadMarkdown, markdownNow } from './vendor.js';

/**
 * @typedef {{ raw: string, nodes: readonly ChildNode[], code?: ReturnType<typeof createCodeBlock> }} Block
 * @typedef {import('/vendor/marked.js').Token} Token
 */

// The last block may still grow, and the one before it may yet take the last one in (a list, a lazy paragraph).
const unsettledBlocks = 2;

export function createMarkdownView() {
  const node = h('div', { class: 'md' });
  /** @type {Block[]} */
  let blocks = [];
  let settledChars = 0;
  let settledBlocks = 0;
  let isPlain = false;

  /** @param {string} text */
  function showPlain(text) {
    isPlain = true;
    node.classList.add('md-plain');
    node.textContent = text;
    void loadMarkdown();
  }

  function reset() {
    isPlain = false;
    node.classList.remove('md-plain');
    node.replaceChildren();
    blocks = [];
    settledChars = settledBlocks = 0;
  }

  /** @param {number} from @param {readonly Token[]} tokens @param {boolean} isFinal @param {boolean} redraw */
  function draw(from, tokens, isFinal, redraw) {
    tokens.forEach((token, i) => {
      const old = blocks[from + i];
      if (old && !redraw && old.raw === token.raw && !(isFinal && old.code)) return;
      const mayGrow = !isFinal && i === tokens.length - 1;
      blocks[from + i] = updated(old, token, mayGrow) ?? replaced(node, old, token, mayGrow);
    });
    for (const extra of blocks.splice(from + tokens.length)) for (const child of extra.nodes) child.remove();
  }

  return {
    node,
    /** @param {string} source @param {boolean} isFinal */
    update(source, isFinal) {
      const text = source.includes('\r') ? source.replace(/\r\n?/g, '\n') : source;
      const markdown = markdownNow();
      if (!markdown) return showPlain(text);
      if (isPlain || text.length < settledChars) reset();
      if (isFinal) settledChars = settledBlocks = 0;
      const tail = text.slice(settledChars);
      const tokens = markdown.lex(isFinal ? tail : heal(tail));
      const shown = tokens.filter((token) => token.type !== 'space');
      draw(settledBlocks, shown, isFinal, isFinal && Object.keys(tokens.links).length > 0);
      if (isFinal || shown.length <= unsettledBlocks) return undefined;
      const firstOpen = tokens.indexOf(/** @type {Token} */ (shown.at(-unsettledBlocks)));
      settledChars += tokens.slice(0, firstOpen).reduce((chars, token) => chars + token.raw.length, 0);
      settledBlocks += shown.length - unsettledBlocks;
      return undefined;
    },
  };
}

/** Code grows in place, so that its scroll and selection stay. @param {Block | undefined} old @param {Token} token @param {boolean} mayGrow */
function updated(old, token, mayGrow) {
  if (!old?.code || token.type !== 'code' || !old.code.update(token.text, token.lang, mayGrow)) return undefined;
  return { ...old, raw: token.raw };
}

/** @param {HTMLElement} parent @param {Block | undefined} old @param {Token} token @param {boolean} mayGrow @returns {Block} */
function replaced(parent, old, token, mayGrow) {
  const made = block(token, mayGrow);
  const next = old?.nodes.at(-1)?.nextSibling ?? null;
  for (const child of old?.nodes ?? []) child.remove();
  for (const child of made.nodes) parent.insertBefore(child, next);
  return made;
}

/** @param {Token} token @param {boolean} mayGrow @returns {Block} */
function block(token, mayGrow) {
  if (token.type === 'code') {
    const code = createCodeBlock(token.text, token.lang, mayGrow);
    return { raw: token.raw, nodes: [code.node], code };
  }
  const fragment = markdownNow()?.toNodes([token]) ?? new DocumentFragment();
  for (const pre of fragment.querySelectorAll('pre')) {
    const language = /language-(\S+)/.exec(pre.firstElementChild?.className ?? '')?.[1];
    pre.replaceWith(createCodeBlock(pre.textContent.replace(/\n$/, ''), language, mayGrow).node);
  }
  for (const table of fragment.querySelectorAll('table')) {
    const frame = h('div', { class: 'table', tabindex: 0, role: 'region', 'aria-label': 'Table' });
    table.replaceWith(frame);
    frame.append(table);
  }
  return { raw: token.raw, nodes: [...fragment.childNodes] };
}

/** Closes what the last paragraph left open, so that half-written bold, code and links do not flash as raw marks. @param {string} tail */
function heal(tail) {
  if ((tail.match(/^ {0,3}(?:```|~~~)/gm)?.length ?? 0) % 2 === 1) return tail;
  const start = tail.lastIndexOf('\n\n') + 1;
  if (tail.includes('```', start)) return tail;
  const last = tail.slice(start).replace(/!?\[([^\]\n]*)\]\([^)\s]*$/, '$1');
  const closed = closeMark(closeMark(last, '`'), '**');
  return tail.slice(0, start) + closed;
}

/** @param {string} text @param {string} mark */
function closeMark(text, mark) {
  if (text.split(mark).length % 2 === 1) return text;
  return text.endsWith(mark) ? text.slice(0, -mark.length) : text.trimEnd() + mark;
}

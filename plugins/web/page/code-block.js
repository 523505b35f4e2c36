// @ts-check
/** Code with its language, a copy button, and colours once they are loaded. */
import { h, setText } from './element.js';
import { icon } from './icons.js';
import { highlighterNow, loadHighlighter } from './vendor.js';

// Colouring a growing block again with each frame must stay cheap; longer ones get their colours at the end.
const liveColourChars = 4000;
const mostColourChars = 100_000;

/** @param {string} text @param {string | undefined} info @param {boolean} mayGrow */
export function createCodeBlock(text, info, mayGrow) {
  const language = languageOf(info);
  const code = h('code');
  const pre = h('pre', { tabindex: 0, 'aria-label': language ? `${language} code` : 'code' }, code);
  const head = h(
    'div',
    { class: 'code-head' },
    h('span', {}, language),
    copyButton(() => code.textContent),
  );
  const node = h('figure', { class: 'code' }, head, pre);
  let shown = '';

  /** @param {string} next @param {boolean} grows */
  function show(next, grows) {
    shown = next;
    const isColourful = language && next.length <= (grows ? liveColourChars : mostColourChars);
    const coloured = isColourful && highlighterNow()?.(next, language);
    if (coloured) return code.replaceChildren(coloured);
    setText(code, next);
    if (isColourful && !highlighterNow()) void loadHighlighter().then(() => shown === next && show(next, grows));
    return undefined;
  }

  show(text, mayGrow);
  return {
    node,
    /** False where it is another block. @param {string} next @param {string | undefined} nextInfo @param {boolean} grows */
    update(next, nextInfo, grows) {
      if (languageOf(nextInfo) !== language) return false;
      if (next !== shown || !grows) show(next, grows);
      return true;
    },
  };
}

/** @param {() => string} text */
export function copyButton(text) {
  const button = h('button', { type: 'button', class: 'quiet copy', title: 'Copy', 'aria-label': 'Copy' }, icon('copy'));
  button.onclick = async () => {
    const isCopied = await navigator.clipboard.writeText(text()).then(
      () => true,
      () => false, // refused without a secure origin: the text can still be selected
    );
    button.replaceChildren(icon(isCopied ? 'check' : 'cross'));
    setTimeout(() => button.replaceChildren(icon('copy')), 1500);
  };
  return button;
}

/** @param {string | undefined} info */
const languageOf = (info) => /^[\w+#.-]+/.exec(info ?? '')?.[0].toLowerCase() ?? '';

// @ts-check
/** The libraries of others, loaded when first needed: Markdown after the first paint, colours with the first code. */

/** @typedef {{ lex: (text: string) => import('/vendor/marked.js').TokensList, toNodes: (tokens: import('/vendor/marked.js').Token[]) => DocumentFragment }} Markdown */

/** @type {Markdown | undefined} */
let markdown;
/** @type {Promise<Markdown> | undefined} */
let markdownLoading;

/** Undefined until it is there; text is shown as it is meanwhile. */
export const markdownNow = () => markdown;

export function loadMarkdown() {
  markdownLoading ??= import('./markdown-dialect.js').then(({ createMarkdown }) => {
    markdown = createMarkdown();
    return markdown;
  });
  return markdownLoading;
}

/** @typedef {typeof import('./highlighter.js').highlight} Highlight */

/** @type {Highlight | undefined} */
let highlighter;
/** @type {Promise<Highlight> | undefined} */
let highlighterLoading;

export const highlighterNow = () => highlighter;

/** Colours code of a known language. */
export function loadHighlighter() {
  highlighterLoading ??= import('./highlighter.js').then(({ highlight }) => {
    highlighter = highlight;
    return highlight;
  });
  return highlighterLoading;
}

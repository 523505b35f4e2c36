import { parentPort } from 'node:worker_threads';

export interface PageAsk {
  readonly html: string;
  readonly url: string;
  readonly mode: 'markdown' | 'text';
  /** Only the article, where there is one. */
  readonly article: boolean;
}

export interface PageText {
  readonly title: string;
  readonly text: string;
}

/** As much of a DOM as is used here. */
interface PageNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly textContent: string | null;
  readonly childNodes: Iterable<PageNode>;
}
interface PageElement extends PageNode {
  readonly innerHTML: string;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  remove(): void;
}
interface PageDocument {
  readonly body: PageElement;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
  cloneNode(deep: boolean): PageDocument;
}

/** What of a page nobody reads. */
const noise = 'script,style,noscript,template,iframe,object,embed,svg,canvas,form,dialog,[hidden],[aria-hidden="true"]';

/** The main text of a page. Never runs anything of it. */
export async function readable({ html, url, mode, article }: PageAsk): Promise<PageText> {
  const { parseHTML } = await import('linkedom');
  // linkedom makes no document of a fragment.
  const whole = /<(?:html|body)[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`;
  const { document } = parseHTML(whole) as unknown as { readonly document: PageDocument };
  for (const element of document.querySelectorAll(noise)) element.remove();
  makeAbsolute(document, url);
  const title = (document.querySelector('title')?.textContent ?? '').replace(/\s+/g, ' ').trim();
  for (const element of document.querySelectorAll('title')) element.remove();
  const part = (article ? await articleOf(document) : undefined) ?? { root: document.body };
  const text = mode === 'text' ? plainOf(part.root) : await markdownOf(part.root);
  return {
    title,
    text: text
      .replace(/[ \t]+$/gm, '')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
  };
}

/** Undefined where the page is no article: a list of links, a form. */
async function articleOf(document: PageDocument) {
  const { Readability, isProbablyReaderable } = await import('@mozilla/readability');
  if (!isProbablyReaderable(document)) return undefined;
  const copy = document.cloneNode(true);
  const found = new Readability<PageElement>(copy, { serializer: (node: unknown) => node as PageElement, keepClasses: true }).parse();
  return found?.content ? { root: found.content } : undefined;
}

async function markdownOf(root: PageElement): Promise<string> {
  const [{ default: Turndown }, { gfm }] = await Promise.all([import('turndown'), import('@joplin/turndown-plugin-gfm')]);
  const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
  turndown.use(gfm);
  // What has no words for it is of no use to a reader of text.
  turndown.addRule('picture', { filter: (node) => node.nodeName === 'IMG' && !node.getAttribute('alt')?.trim(), replacement: () => '' });
  // As text, which it parses with a DOM of its own: linkedom's tables have no rows.
  return turndown.turndown(root.innerHTML);
}

const blocks = /^(?:p|div|section|article|main|h[1-6]|li|tr|pre|blockquote|ul|ol|table|dl|dt|dd|figure|header|footer|br|hr)$/i;

function plainOf(root: PageNode): string {
  if (root.nodeType === 3) return (root.textContent ?? '').replace(/\s+/g, ' ');
  if (/^pre$/i.test(root.nodeName)) return `\n${root.textContent ?? ''}\n`;
  const inner = [...root.childNodes].map(plainOf).join('');
  return blocks.test(root.nodeName) ? `\n${inner.trim()}\n` : inner;
}

/** A link is of use only with the whole address; `data:` pictures and scripts are of none. */
function makeAbsolute(document: PageDocument, url: string) {
  for (const [name, selector] of [
    ['href', 'a[href]'],
    ['src', 'img[src]'],
  ] as const) {
    for (const element of document.querySelectorAll(selector)) {
      const value = element.getAttribute(name) ?? '';
      const isUsable = URL.canParse(value, url) && /^(?:https?|mailto):$/.test(new URL(value, url).protocol);
      if (isUsable) element.setAttribute(name, new URL(value, url).href);
      else element.removeAttribute(name);
    }
  }
}

/** A page that it cannot read ends the thread: what is left of it in memory is not for the next one. */
parentPort?.on('message', (ask: PageAsk) => void readable(ask).then((made) => parentPort?.postMessage(made)));

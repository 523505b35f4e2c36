// @ts-check
/** Which Markdown a model may speak to a person: GitHub's, with little HTML, links that leave, and nothing fetched. */
import purify from '/vendor/dompurify.js';
import { Marked } from '/vendor/marked.js';

const plainTag = /^<\/?(?:br|sub|sup|kbd|b|i|em|strong|u|s|del|ins|mark|small|details|summary)\s*\/?>$/i;
const codeClass = /^(?:language-[\w+#.-]+|hljs-[a-z_-]+(?: [a-z]+_+)*)$/;
const inlineImage = /^data:image\/(?:png|jpeg|gif|webp);base64,/i;

const allowed = {
  ALLOWED_TAGS: words(
    'p br hr strong em b i u s del ins mark small sub sup kbd h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code a img',
    'table thead tbody tr th td details summary',
  ),
  ALLOWED_ATTR: words('href title alt src start align class'),
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
  ADD_URI_SAFE_ATTR: ['align', 'start'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: /** @type {const} */ (true),
};

/** @returns {import('./vendor.js').Markdown} */
export function createMarkdown() {
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      html: (token) => {
        const shown = token.text.replace(/<[^>]*>?|[^<]+/g, (piece) => (plainTag.test(piece) ? piece : escape(piece)));
        return token.block && !/^<[a-z]/i.test(shown) ? `<p>${shown}</p>` : shown;
      },
      // The network would learn that, and when, this was read: a link instead, followed by choice.
      image: ({ href, text }) =>
        inlineImage.test(href)
          ? `<img src="${escape(href)}" alt="${escape(text)}">`
          : `<a href="${escape(href)}">${escape(text || 'image')}</a>`,
      checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    },
  });
  purify.addHook('uponSanitizeAttribute', (_node, attribute) => {
    // Only those of code: a class of the page's own would let a message dress up as its controls.
    if (attribute.attrName === 'class' && !codeClass.test(attribute.attrValue)) attribute.keepAttr = false;
  });
  return {
    lex: (text) => marked.lexer(text),
    toNodes: (tokens) => leaving(purify.sanitize(marked.parser(tokens), allowed)),
  };
}

/** @param {DocumentFragment} fragment */
function leaving(fragment) {
  for (const link of fragment.querySelectorAll('a')) {
    link.target = '_blank';
    link.rel = 'noopener noreferrer';
  }
  return fragment;
}

/** @param {...string} lines */
function words(...lines) {
  return lines.flatMap((line) => line.split(' '));
}

/** @param {string} text */
const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

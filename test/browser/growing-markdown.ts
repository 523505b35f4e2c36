const documents = [
  'First, **bold** and `code`.\n\nThen [a link](https://a.example) and ~~gone~~.\n\n# Title\n\nEnd **open',
  '- one\n- two\n\n  still two\n\n- three\n   1. deep\n\nafter\nlazy\n\n> quote\nlazy quote\n\n***\n\nx\n===\n',
  'a\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n```js\nconst a = 1;\n\n**b**\n```\n\n~~~\nx\n\n```\n~~~\nend',
  'See [ref] and [other][ref].\n\nMore\n\nmore\n\n[ref]: https://r.example\n',
  '<div>\n\n**x**\n\n</div>\n\na<br>b <kbd>k</kbd> &amp; 1 < 2\r\n\r\n    indented\n\n\tcode\n\nend',
];

/** Runs in the page: draws documents piece by piece and at once. */
export const growMarkdown = `(async () => {
  const { createMarkdownView } = await import('/page/markdown.js');
  await (await import('/page/vendor.js')).loadMarkdown();
  await (await import('/page/vendor.js')).loadHighlighter();
  const documents = ${JSON.stringify(documents)};
  const draw = (text, step) => {
    const view = createMarkdownView();
    for (let end = step; end < text.length; end += step) view.update(text.slice(0, end), false);
    const first = view.node.firstElementChild;
    view.update(text, true);
    return { html: view.node.innerHTML, isKept: first === view.node.firstElementChild };
  };
  const differs = (text, step) => draw(text, step).html !== draw(text, text.length).html;
  const differing = documents.flatMap((text) => [1, 2, 3, 7].filter((step) => differs(text, step)).map((step) => step + ': ' + text));
  return { differing, isFirstBlockKept: draw(documents[0], 1).isKept };
})()`;

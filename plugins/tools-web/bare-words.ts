const most = { html: 500_000, tag: 2000 };

/**
 * The words of a page that its reader had to leave, without form: better than none. This is done on the main thread: each character is
 * looked at once, whatever the page is made of, and of a long page only the beginning.
 */
export function bareWords(html: string): { readonly text: string; readonly cut: boolean } {
  const lines = withoutTags(beginningOf(html)).split('\n');
  const words = lines.map((line) => line.replace(/[ \t]+/g, ' ').trim()).filter((line) => line !== '');
  return { text: words.join('\n'), cut: html.length > most.html };
}

/** Without the tag that the cut goes through. */
function beginningOf(html: string): string {
  const part = html.slice(0, most.html);
  const open = part.lastIndexOf('<');
  return part.length < html.length && open > part.lastIndexOf('>') ? part.slice(0, open) : part;
}

function withoutTags(html: string): string {
  const parts: string[] = [];
  let [from, close] = [0, html.indexOf('>')];
  for (let open = html.indexOf('<'); open >= 0; open = html.indexOf('<', Math.max(from, open + 1))) {
    if (close < open) close = html.indexOf('>', open);
    if (close < 0) break;
    if (close - open > most.tag) continue;
    parts.push(html.slice(from, open));
    from = close + 1;
  }
  parts.push(html.slice(from));
  return parts.join(' ');
}

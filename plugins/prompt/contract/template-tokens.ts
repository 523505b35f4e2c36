/**
 * Chat templates of local models have tokens that end a message, and their servers read them in a message's text too. `<|im_end|>`
 * becomes `< |im_end| >`. Case and spelling are the tokens' own: a tokeniser knows no look-alikes. Of `<s>`, a pair as in HTML stays.
 */
export function withoutTokens(text: string): string {
  if (!hints.test(text)) return text;
  let open = 0;
  return text.replace(tokens, (token, at: number) => {
    const isHtml = token === '<s' || (/^<\/?s>$/.test(token) && !isTurn(text, at) && (token === '<s>' || open > 0));
    if (!isHtml) return `${token[0]} ${token.slice(1, -1)} ${token.at(-1)}`;
    open += token === '</s>' ? -1 : 1;
    return token;
  });
}

function isTurn(text: string, at: number): boolean {
  turn.lastIndex = at;
  return turn.test(text);
}
/** Between two turns, where HTML has none. */
const turn = /<\/?s>\s{0,9}(?:<s>\s{0,9})?(?:\[\/?INST\]|<<\/?SYS>>)|<\/s>\s{0,9}<s>\s{0,9}(?:\[|<<)/y;

/** With bars: of ChatML, Llama, Harmony, Gemma, and the wide ones of DeepSeek. */
const barred = '\\|[\\w.-]{1,40}\\|?|[\\w.-]{1,40}\\||｜[^\\s<>｜]{1,40}｜';
const named = '(?:start|end)_of_(?:turn|image)|bos|eos|pad|unk|/?(?:think|tool_calls?|tool_responses?)|</?SYS>|/?s';
const bracketed = '/?(?:INST|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|SYSTEM_PROMPT)';
const tokens = new RegExp(`<(?:${barred}|${named})>|<s(?=\\s)|\\[${bracketed}\\]`, 'g');
/** Where this finds nothing there are none: most texts. */
const hints = /[|｜]>|<(?:\||\/?(?:s>|think>|tool_)|(?:start|end)_of_|[be]os>|pad>|unk>|<\/?SYS)|\[\/?[ITAS][NOVY]/;

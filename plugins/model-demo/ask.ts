/** What a person plainly asks for. `subject` names it in sentences. */
export type Ask =
  | {
      readonly kind: 'tool';
      readonly tool: string;
      readonly args: Readonly<Record<string, unknown>>;
      readonly aim: Aim;
      readonly subject: string;
    }
  | { readonly kind: 'greeting' | 'abilities' | 'unknown' };

/** What to do with the tool's result: show it, say what it is, tell that it is done. */
export type Aim = 'show' | 'summary' | 'done';

interface Pattern {
  readonly pattern: RegExp;
  readonly ask: (found: Readonly<Record<string, string | undefined>>, text: string) => Ask;
}

const pathIn = ({ path, quoted: name }: Readonly<Record<string, string | undefined>>) => name ?? path ?? '.';

const marks = ['""', "''", '``', '“”', '「」'] as const;
const quoted = marks.map(([open, close]) => `${open}(?<quoted>[^${close}\\n]+)${close}`).join('|');
/** A word that can only be a file: with an ending, a slash, or in capitals. */
const file = String.raw`(?:${quoted}|(?<path>[\w~-]*[./][\w./~-]*[\w/~]|\b[A-Z]{3,}\b|\b(?:Makefile|Dockerfile)\b))`;
/** A word where nothing but a file can stand. */
const word = String.raw`(?:${quoted}|(?<path>[\w./~-]*[\w/~]))`;
const tool = (name: string, args: Readonly<Record<string, unknown>>, aim: Aim, subject: string): Ask => ({
  kind: 'tool',
  tool: name,
  args,
  aim,
  subject,
});
const call = (command = '') => tool('exec', { command }, 'show', `\`${command}\``);
const save = (path: string, content = '') => tool('write', { path, content: unquoted(content) }, 'done', path);
const look = (where: string, aim: Aim) => tool('read', { path: where }, aim, where);

const wantsSummary = /\b(?:say|tell|explain|summari[sz]e|describe|what (?:is|this|it)|about)\b|说|总结|介绍|解释|是什么/i;

const patterns: readonly Pattern[] = [
  {
    pattern: /(?:\b(?:run|execute|exec)\b|运行|执行)[^`]*`(?<command>[^`]+)`/i,
    ask: ({ command }) => call(command),
  },
  {
    pattern: /^\s*(?:please\s+)?(?:run|execute|exec|运行|执行)\s*(?:the command\b)?:?\s+(?<command>\S.*)$/im,
    ask: ({ command }) => call(command?.replace(/^["']|["'.]$/g, '')),
  },
  {
    pattern: new RegExp(String.raw`\bwrite\s+(?<content>.+?)\s+(?:to|into|in)\s+(?:(?:the|a)\s+)?(?:file\s+)?${word}\s*[.!]?\s*$`, 'is'),
    ask: (found) => save(pathIn(found), found['content']),
  },
  {
    pattern: new RegExp(String.raw`\bcreate\s+(?:(?:the|a)\s+)?(?:file\s+)?${word}\s+(?:with|containing)\s+(?<content>.+)$`, 'is'),
    ask: (found) => save(pathIn(found), found['content']),
  },
  {
    pattern: /\b(?:spawn|start|use)\b.*?\bsub-?agent\b(?:\s+(?:to|that|who|for))?:?\s*(?<task>.*)$/is,
    ask: ({ task }) => tool('sessions_spawn', { task: task || 'say hello' }, 'show', 'a sub-agent'),
  },
  {
    pattern: new RegExp(
      String.raw`\b(?:list|show|what|which)\b.*\b(?:files|folder|directory|dir)\b(?:.*?\b(?:in|of|under)\s+(?!this\b|the\b|here\b|my\b|your\b)${word})?`,
      'i',
    ),
    ask: (found) => look(pathIn(found), 'show'),
  },
  { pattern: /^\s*ls\s*$|列出.*(?:文件|目录)|有(?:哪些|什么)文件|文件列表/i, ask: () => look('.', 'show') },
  {
    pattern: new RegExp(
      String.raw`(?:\b(?:[Rr]ead|[Oo]pen|[Ss]how|[Cc]at|[Pp]rint|[Ss]ummari[sz]e|[Ee]xplain|[Dd]escribe)\b|读取?一?下?|打开|看看?|总结一?下?)\s*(?:me\s+)?(?:the\s+)?(?:file\s+)?${file}`,
    ),
    ask: (found, text) => look(pathIn(found), wantsSummary.test(text) ? 'summary' : 'show'),
  },
  {
    pattern: /\bwhat(?:'s|\s+is)?\b.*\b(?:time|date|day)\b|\b(?:current|today's)\s+(?:time|date)\b|几点|几号|日期|现在.*时间/i,
    ask: () => tool('exec', { command: 'date' }, 'show', 'the time'),
  },
  { pattern: /\b(?:help|what can you do|which tools|your tools)\b|帮助|你能做什么|你会什么/i, ask: () => ({ kind: 'abilities' }) },
  {
    pattern: /^\W*(?:hi|hello|hey|hallo|bonjour|good (?:morning|evening|day))\b|你好|您好|嗨|哈喽|早上好|晚上好/i,
    ask: () => ({ kind: 'greeting' }),
  },
];

/** Understands a few plain requests; the first pattern that fits decides. A long text is no plain request. */
export function askIn(text: string): Ask {
  for (const { pattern, ask } of text.length > 4000 ? [] : patterns) {
    const found = pattern.exec(text);
    if (found) return ask(found.groups ?? {}, text);
  }
  return { kind: 'unknown' };
}

const unquoted = (text: string) => /^(["'`“])(?<inner>[^]*)["'`”]$/.exec(text.trim())?.groups?.['inner'] ?? text.trim();

export const isChinese = (text: string) => /\p{Script=Han}/u.test(text);

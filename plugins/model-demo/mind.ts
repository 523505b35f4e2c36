import type { Content } from '../../kernel/index.ts';
import type { ModelRequest } from '../models/contract.ts';
import type { AssistantMessage, Message, ToolCallPart, ToolResultMessage } from '../sessions/contract.ts';
import { askIn, isChinese, type Ask } from './ask.ts';
import { namedIn } from './named.ts';
import { summaryOf } from './summary.ts';

export interface Thought {
  readonly text: string;
  readonly call?: ToolCallPart;
}

/** The notice's first words; by them it is known whether a session has heard it. */
const notice = 'No language model is configured';
const how =
  "To use a real one, set ANTHROPIC_API_KEY, OPENAI_API_KEY or another provider's key, or agents.defaults.model in the config, and start again.";
const notices = {
  en: `${notice}: this is Instar's built-in demo, which understands a few plain requests and makes nothing up. ${how}`,
  zh: `没有配置语言模型（${notice}）：这是 Instar 内置的演示，只懂几种简单的请求。设置 ANTHROPIC_API_KEY、OPENAI_API_KEY 等密钥，或配置里的 agents.defaults.model，再重新启动，即可使用真正的模型。`,
};

/** The next message of a conversation: the same for the same conversation. */
export function think({ messages, tools }: Pick<ModelRequest, 'messages' | 'tools'>): Thought {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const question = messages[at];
  const said = textOf(question);
  const results = messages.slice(at + 1).filter((message) => message.role === 'toolResult');
  const ask = askIn(said);
  const last = results.at(-1);
  const offered = new Set(tools.map(({ name }) => name));
  if (last) return { text: withNotice(messages, said, afterTool(ask, last)) };
  const wanted = ask.kind === 'tool' ? instead(ask, offered) : namedIn(said, offered);
  if (wanted && offered.has(wanted.name)) {
    const id = `demo_${question?.timestamp ?? 0}_${messages.length}`;
    return { text: '', call: { type: 'toolCall', id, ...wanted } };
  }
  return { text: withNotice(messages, said, wanted ? notOffered(wanted.name, offered) : speak(ask, said, offered)) };
}

/** The tool for what was asked, or another that does as well. */
function instead({ tool, args, subject }: Extract<Ask, { kind: 'tool' }>, offered: ReadonlySet<string>) {
  // It needs nobody's leave.
  if (subject === 'the time' && offered.has('session_status')) return { name: 'session_status', arguments: {} };
  if (tool === 'read' && !offered.has('read')) {
    const path = String(args['path']);
    return { name: 'exec', arguments: { command: path === '.' ? 'ls -F' : `cat -- '${path.replaceAll("'", String.raw`'\''`)}'` } };
  }
  return { name: tool, arguments: args };
}

function withNotice(messages: readonly Message[], said: string, text: string): string {
  const heard = messages.some((message) => message.role === 'assistant' && textOf(message).includes(notice));
  return heard ? text : `${notices[isChinese(said) ? 'zh' : 'en']}\n\n${text}`;
}

function afterTool(ask: Ask, result: ToolResultMessage): string {
  const text = textOf(result);
  const { toolName } = result;
  if (result.isError) return `That did not work. ${toolName} answered:\n\n${fenced(text)}`;
  if (ask.kind !== 'tool') return `${toolName} answered:\n\n${fenced(text)}`;
  if (ask.aim === 'done') return `Done: ${text.split('\n', 1)[0] || ask.subject}`;
  if (ask.aim === 'summary') return summaryOf(ask.subject, text);
  const time = ask.subject === 'the time' && /^time: (.*)$/m.exec(text)?.[1];
  return time ? `It is ${time}.` : `${heading(ask)}\n\n${fenced(text)}`;
}

function heading({ tool, args, subject }: Extract<Ask, { kind: 'tool' }>): string {
  if (tool === 'read') return args['path'] === '.' ? 'The files of the workspace:' : `This is ${subject}:`;
  if (subject === 'the time') return 'It is:';
  return tool === 'exec' ? `${subject} wrote:` : `This came back for ${subject}:`;
}

function speak(ask: Ask, said: string, offered: ReadonlySet<string>): string {
  const zh = isChinese(said);
  if (ask.kind === 'greeting') return zh ? `你好！${abilities(offered, zh)}` : `Hello! ${abilities(offered, zh)}`;
  if (ask.kind === 'abilities') return abilities(offered, zh);
  const line = said.trim().split('\n', 1)[0] ?? '';
  const heard = line.length > 200 ? `${line.slice(0, 199)}…` : line;
  return zh
    ? `你说：“${heard}”。这超出了演示的能力。${abilities(offered, zh)}`
    : `You said: "${heard}". That is beyond this demo. ${abilities(offered, zh)}`;
}

const examples: readonly (readonly [tool: string, en: string, zh: string])[] = [
  ['read', '"list the files"', '“列出文件”'],
  ['read', '"read README.md and say what this is"', '“读 README.md，说说这是什么”'],
  ['write', '"write hello to a.txt"', '"write hello to a.txt"'],
  ['exec', '"run `date`"', '“运行 `date`”'],
  ['exec', '"what time is it"', '“现在几点”'],
  ['sessions_spawn', '"spawn a sub-agent to list the files"', '"spawn a sub-agent to list the files"'],
];

function abilities(offered: ReadonlySet<string>, zh: boolean): string {
  const known = examples.filter(([tool]) => offered.has(tool)).map(([, en, chinese]) => (zh ? chinese : en));
  if (known.length === 0) return zh ? '这里没有提供任何我会用的工具。' : 'None of the tools that I know are offered here.';
  return zh ? `可以试试：${known.join('、')}。` : `Try ${known.join(', ')}.`;
}

const notOffered = (name: string, offered: ReadonlySet<string>) =>
  `For that I would use the tool "${name}", which is not offered here. ${abilities(offered, false)}`;

/** In a fence that the text itself cannot close. */
function fenced(text: string): string {
  const shown = text.length > 4000 ? `${text.slice(0, 4000)}\n… (${text.length - 4000} characters more)` : text.trimEnd();
  const longest = Math.max(2, ...(shown.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${shown || '(nothing)'}\n${fence}`;
}

function textOf(message: Message | undefined): string {
  const content: string | AssistantMessage['content'] | readonly Content[] = message?.content ?? '';
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n');
}

import type { TurnEvents } from '../chat/contract.ts';
import { bold, dim, oneLine, plain } from './contract/terminal.ts';
import { notesOf, textOf } from './following.ts';
import type { TurnView } from './turn.ts';

type Write = (text: string) => void;

/** Prints a turn as it happens: the text as it comes, tool calls as a line each. */
export function turnView(write: Write): TurnView {
  /** What was written of each text, by message and part: the stream may skip, the end of the message may not. */
  const written = new Map<string, string>();
  let atLineStart = true;
  /** Something of this turn's answer. */
  let isShown = false;
  const put = (text: string) => {
    if (!text) return;
    isShown = true;
    write(plain(text));
    atLineStart = text.endsWith('\n');
  };
  const line = (text: string) => {
    if (!atLineStart) write('\n');
    write(`${text}\n`);
    atLineStart = true;
  };
  const putText = (messageId: string, index: number, text: string) => {
    const key = `${messageId}/${index}`;
    const before = written.get(key) ?? '';
    written.set(key, before + text);
    put(text);
  };
  return {
    message_update({ messageId, kind, index, delta }) {
      if (kind === 'text') putText(messageId, index, delta);
    },
    message_end({ messageId, message }) {
      if (message.role !== 'assistant') return;
      for (const [index, part] of message.content.entries()) {
        const before = written.get(`${messageId}/${index}`) ?? '';
        if (part.type === 'text' && part.text.startsWith(before)) putText(messageId, index, part.text.slice(before.length));
      }
      if (!atLineStart) put('\n');
    },
    tool_execution_start: ({ name, args }) => line(`${dim('>')} ${bold(plain(name))} ${dim(argumentsOf(args))}`),
    tool_execution_end: ({ result, ms }) => line(dim(`  ${result.isError ? 'failed: ' : ''}${resultOf(result)} (${Math.round(ms)} ms)`)),
    model_switched: ({ from, to, isBack, reason = '' }) =>
      line(dim(oneLine(isBack ? `${to} answers again` : `${to} answers in place of ${from} (${reason.replace('_', ' ')})`, 200))),
    model_waiting: ({ model, reason, ms }) =>
      line(dim(oneLine(`${model} rests (${reason.replaceAll('_', ' ')}); asked again in ${Math.max(1, Math.ceil(ms / 1000))} s`, 200))),
    turn_waiting: ({ message }) => line(dim(oneLine(message, 300))),
    auto_compaction_start: () => line(dim('the conversation is getting long: making room')),
    auto_compaction_end: ({ error, messages, tokensBefore, tokensAfter }) => {
      const what = messages ? `${messages} messages are a summary now` : 'long tool results were shortened';
      line(dim(oneLine(error ?? `${what}: about ${tokensBefore} tokens became ${tokensAfter}`, 200)));
    },
    context_window_warning: ({ message }) => line(dim(oneLine(message, 300))),
    again() {
      line(dim('the connection was lost, and stands again'));
      isShown = false; // what is told from here on is whole: the rest of the answer, or all of it
    },
    agent_end({ payloads, error }) {
      if (!isShown) put(textOf(payloads)); // a word such as /help is answered without a turn, so that nothing was streamed
      if (!atLineStart) put('\n');
      if (!error) for (const note of notesOf(payloads)) line(dim(oneLine(note, 300))); // a failure is told by whoever asked
      isShown = false;
    },
  };
}

function argumentsOf(args: unknown): string {
  if (typeof args !== 'object' || args === null) return oneLine(JSON.stringify(args) ?? '');
  return oneLine(
    Object.values(args)
      .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
      .join(' '),
  );
}

function resultOf({ content }: TurnEvents['tool_execution_end']['result']): string {
  const text = content.map((part) => (part.type === 'text' ? part.text : `[${part.mimeType}]`)).join(' ');
  return oneLine(text) || 'done';
}

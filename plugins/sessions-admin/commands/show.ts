import { parseArgs } from 'node:util';
import { bold, columns, dim, oneLine, plain, type RunCommand } from '../../cli/contract.ts';
import type { Entry, Message } from '../../sessions/contract.ts';
import type { Shown } from '../contract.ts';
import { minuteOf } from './list.ts';
import { countOf, oneKey } from './one-key.ts';

/** `instar sessions show KEY`: what it is, and the end of its conversation. */
export const run: RunCommand = async (argv, host) => {
  const options = { json: { type: 'boolean' }, last: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
  const sessionKey = oneKey('show', positionals);
  const last = countOf('last', values.last);
  const shown = await host.ask<Shown>('sessions.show', { sessionKey, ...(last && { last }) });
  console.log(values.json ? JSON.stringify(shown) : textOf(shown));
  return 0;
};

function textOf({ session, file, messages, entries }: Shown): string {
  const facts = [
    { label: 'session', value: plain(session.key) },
    { label: 'title', value: oneLine(session.title || '(none)', 200) },
    { label: 'used', value: `${minuteOf(session.updatedAt)}, since ${minuteOf(session.createdAt)}` },
    { label: 'messages', value: `${messages}${entries.length < messages ? `, the last ${entries.length} below` : ''}` },
    { label: 'transcript', value: plain(file) },
  ];
  return [columns(facts), ...entries.map(entryText)].join('\n\n');
}

function entryText({ message }: Entry): string {
  const who = {
    user: 'you',
    assistant: 'agent',
    toolResult: `result of ${message.role === 'toolResult' ? plain(message.toolName ?? '') : ''}`,
  };
  const body = plain(partsOf(message).join('\n').trim()) || '(nothing)';
  const shown = message.role === 'toolResult' ? dim(oneLine(body, 300)) : body;
  return `${bold(who[message.role])} ${dim(minuteOf(message.timestamp || 0))}\n${shown}`;
}

/** Of a file that others may have written: a part may be of any kind. */
function partsOf({ content }: Message): readonly string[] {
  if (typeof content === 'string') return [content];
  return content.flatMap((part) => {
    if (part.type === 'text') return [part.text];
    if (part.type === 'toolCall') return [`→ ${part.name} ${oneLine(JSON.stringify(part.arguments) ?? '', 200)}`];
    return part.type === 'thinking' ? [] : [`[${(part as { readonly type: string }).type}]`];
  });
}

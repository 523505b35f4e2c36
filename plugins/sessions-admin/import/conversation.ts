import { isMessage, titleFrom } from '../../sessions/contract.ts';
import type { JsonRecord } from './record.ts';

/** What a transcript says of itself, learned while it is read. */
export interface Conversation {
  readonly messages: number;
  readonly compactions: number;
  /** The name it was given, else what was said first. */
  readonly title: string;
  /** Milliseconds since 1970; undefined where no record has a time. */
  readonly began: number | undefined;
  readonly ended: number | undefined;
  learn(record: JsonRecord, line: number): void;
  /** Once at the end: what else there is that a person might miss. */
  rest(note: (text: string, line: number) => void): void;
}

const known = new Set(['message', 'compaction', 'branch_summary', 'custom_message', 'custom', 'label', 'session_info', 'model_change']);
known.add('thinking_level_change');
/** Roles that the described system has beside those of a model; they are shown as a user's. */
const otherRoles = new Set(['bashExecution', 'custom']);

export function conversation(): Conversation {
  const unknown = new Map<string, { count: number; readonly line: number }>();
  const found = { messages: 0, compactions: 0, began: undefined as number | undefined, ended: undefined as number | undefined };
  let [name, first] = ['', ''];
  const count = (kind: string, line: number) => {
    const one = unknown.get(kind) ?? { count: 0, line };
    one.count++;
    unknown.set(kind, one);
  };
  return {
    get messages() {
      return found.messages;
    },
    get compactions() {
      return found.compactions;
    },
    get title() {
      return titleFrom(name || first);
    },
    get began() {
      return found.began;
    },
    get ended() {
      return found.ended;
    },
    learn(record, line) {
      const { type, message, timestamp } = record;
      const time = Date.parse(String(timestamp));
      if (time > 0) [found.began, found.ended] = [found.began ?? time, time];
      if (type === 'compaction') found.compactions++;
      if (type === 'session_info' && typeof record.name === 'string') name = record.name;
      if (!known.has(type as string)) count(`of the unknown type ${JSON.stringify(type)}`, line);
      if (type !== 'message') return;
      if (isMessage(message)) {
        found.messages++;
        if (!first && message.role === 'user') first = textOf(message.content);
      } else if (!otherRoles.has(String((message as JsonRecord | undefined)?.role))) count('a message that no model can be shown', line);
    },
    rest(note) {
      for (const [kind, { count: many, line }] of unknown)
        note(`${kind}${many > 1 ? `, the first of ${many}` : ''}: kept in the file, not shown to a model`, line);
    },
  };
}

const textOf = (content: string | readonly { readonly type: string }[]) =>
  typeof content === 'string'
    ? content
    : content.map((part) => (part.type === 'text' ? String((part as { text?: unknown }).text) : '')).join(' ');

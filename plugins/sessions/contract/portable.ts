import type { AssistantMessage, Message, ToolCallPart, ToolResultMessage, UserMessage } from '../contract.ts';
import { soundMessage } from './content.ts';
import { callsOf, validHistory } from './pairing.ts';

/** What a protocol says of the ids of calls. */
export interface IdRules {
  /** Characters. */
  readonly longest: number;
  /** Ids are `<call>|<item>`, as OpenAI's responses have them; the item is kept for the model that made it. */
  readonly items?: (message: AssistantMessage) => boolean;
}

/**
 * Any list of messages as one that every protocol takes as the messages of a request, whoever said them and however they
 * got into the transcript: results follow their calls, ids are unique and of characters that all know, nothing is empty,
 * a user begins, no two replies stand side by side, and the last word is not the model's. What needs no change keeps its
 * identity, also from one request to the next.
 */
export function portable(messages: readonly Message[], rules: IdRules): readonly Message[] {
  return withIds(inTurns(validHistory(validHistory(messages).map(sound))), rules);
}

const sounds = new WeakMap<Message, Message>();

function sound(message: Message): Message {
  let known = sounds.get(message);
  if (!known) sounds.set(message, (known = soundMessage(message)));
  return known;
}

const go: UserMessage = { role: 'user', content: '(go on)', timestamp: 0 };

function inTurns(messages: readonly Message[]): readonly Message[] {
  const turns: Message[] = [];
  for (const message of messages) {
    const before = turns.at(-1)?.role;
    if (message.role === 'assistant' && (before === undefined || before === 'assistant')) turns.push(go);
    turns.push(message);
  }
  if (turns.at(-1)?.role !== 'user' && turns.at(-1)?.role !== 'toolResult') turns.push(go);
  return turns;
}

/** Each message with the ids it was sent with, so that it is the same object in the next request. */
const renames = new WeakMap<Message, { readonly ids: string; readonly message: Message }>();

function withIds(messages: readonly Message[], rules: IdRules): readonly Message[] {
  const taken = new Set<string>();
  const sent: Message[] = [];
  let waiting: string[] = [];
  let names: readonly string[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') {
      const calls = callsOf(message);
      waiting = calls.map((call) => freeId(call, taken, rules, message));
      names = calls.map(({ name }) => name);
      sent.push(calls.length ? replyWith(message, waiting) : message);
    } else if (message.role === 'toolResult') {
      const at = names.length - waiting.length;
      sent.push(resultWith(message, waiting.shift() ?? message.toolCallId, names[at] ?? message.toolName));
    } else sent.push(message);
  }
  return sent;
}

function freeId({ id }: ToolCallPart, taken: Set<string>, { longest, items }: IdRules, message: AssistantMessage): string {
  const [head = '', item = ''] = items ? id.split('|') : [id];
  let free = isUsable(head, longest) ? head : hashed(head);
  for (let n = 1; taken.has(free); n++) free = hashed(`${head}#${n}`);
  taken.add(free);
  if (!items?.(message) || !/^fc_[\w-]{1,61}$/.test(item) || taken.has(item)) return free;
  taken.add(item);
  return `${free}|${item}`;
}

/** No `_` at the end: where ids are made fit for others, it is cut off, and two may become one. */
const isUsable = (id: string, longest: number) => id.length <= longest && /^[\w-]*[A-Za-z0-9-]$/.test(id);

/** The same for the same id, so that a provider's cache of the conversation stays of use. */
function hashed(text: string): string {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 2654435761);
    b = Math.imul(b ^ unit, 1597334677);
  }
  const hex = (n: number) => (n >>> 0).toString(16).padStart(8, '0');
  return `call_${hex(a ^ (b >>> 16))}${hex(b ^ (a >>> 13))}`;
}

function renamed<M extends Message>(message: M, ids: string, make: () => M): M {
  const known = renames.get(message);
  if (known?.ids === ids) return known.message as M;
  const made = make();
  renames.set(message, { ids, message: made });
  return made;
}

function replyWith(message: AssistantMessage, ids: readonly string[]): AssistantMessage {
  if (callsOf(message).every(({ id }, i) => id === ids[i])) return message;
  return renamed(message, ids.join(' '), () => {
    let at = 0;
    return { ...message, content: message.content.map((part) => (part.type === 'toolCall' ? { ...part, id: ids[at++] as string } : part)) };
  });
}

function resultWith(message: ToolResultMessage, id: string, name: string): ToolResultMessage {
  if (message.toolCallId === id && message.toolName === name) return message;
  return renamed(message, `${id} ${name}`, () => ({ ...message, toolCallId: id, toolName: name }));
}

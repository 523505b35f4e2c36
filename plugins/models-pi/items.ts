import type { AssistantMessage, AssistantPart, Message } from '../sessions/contract.ts';

/**
 * OpenAI's responses name their items, and tie a call or a text to the thinking before it: sent back is all of it or none.
 * A reply that is not whole any more, or names what was there before, is sent as if another model had given it.
 */
export function withoutBrokenItems(messages: readonly Message[], isOwn: (message: AssistantMessage) => boolean): readonly Message[] {
  const seen = new Set<string>();
  return messages.map((message) => {
    if (message.role !== 'assistant' || !isOwn(message)) return message;
    const ids = itemsOf(message);
    const isWhole = ids !== undefined && new Set(ids).size === ids.length && !ids.some((id) => seen.has(id));
    if (!isWhole) return disowned(message);
    for (const id of ids) seen.add(id);
    return message;
  });
}

const others = new WeakMap<Message, AssistantMessage>();

/** The same object each time, so that what is known of it stays known. */
function disowned(message: AssistantMessage): AssistantMessage {
  const known = others.get(message) ?? { ...message, model: `${message.model} (not whole)` };
  others.set(message, known);
  return known;
}

/** The names of its items; undefined where one is not as it came. */
function itemsOf({ content, stopReason }: AssistantMessage): readonly string[] | undefined {
  if (stopReason === 'error' || stopReason === 'aborted') return undefined;
  const parts = content.filter((part) => part.type !== 'text' || (typeof part.text === 'string' && part.text.trim() !== ''));
  const hasThought = parts.some(({ type }) => type === 'thinking');
  const ids: string[] = [];
  for (const [i, part] of parts.entries()) {
    const id = itemOf(part);
    if (part.type === 'thinking' && (parts[i + 1] === undefined || parts[i + 1]?.type === 'thinking')) return undefined;
    if (id === undefined && (hasThought || part.type !== 'text' || signatureOf(part) !== undefined)) return undefined;
    if (id !== undefined) ids.push(id);
  }
  return ids;
}

function itemOf(part: AssistantPart): string | undefined {
  if (part.type === 'toolCall') return named('fc', itemIn(part.id));
  if (part.type === 'text') return named('msg', textItem(signatureOf(part)));
  const item = objectOf(part.thinkingSignature);
  // Nothing is kept on their side, so that the name alone says nothing.
  const isWhole =
    item?.['type'] === 'reasoning' &&
    Array.isArray(item['summary']) &&
    typeof item['encrypted_content'] === 'string' &&
    item['encrypted_content'] !== '';
  return isWhole ? named('rs', item['id']) : undefined;
}

const signatureOf = (part: AssistantPart) => (part as { readonly textSignature?: unknown }).textSignature;

/** Of a line of a file only the kinds of its parts are certain. */
const itemIn = (id: unknown) => (typeof id === 'string' ? id.split('|')[1] : undefined);

const named = (kind: string, id: unknown): string | undefined =>
  typeof id === 'string' && id.length <= 64 && id.startsWith(`${kind}_`) && /^\w[\w-]*$/.test(id) ? id : undefined;

/** pi writes `{"v":1,"id":…}`, and wrote the bare id before. */
const textItem = (signature: unknown): unknown =>
  typeof signature === 'string' && signature.startsWith('{') ? objectOf(signature)?.['id'] : signature;

function objectOf(text: unknown): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(String(text));
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined; // of another maker, or broken
  }
}

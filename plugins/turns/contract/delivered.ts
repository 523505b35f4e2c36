import type { Message } from '../../sessions/contract.ts';
import type { Sent } from '../contract.ts';

/** What is told of itself by `details` of a result that is no error: foreign, so each field is looked at. */
export function detailsOf(message: Message): Readonly<Record<string, unknown>> {
  if (message.role !== 'toolResult' || message.isError) return {};
  const { details } = message;
  return typeof details === 'object' && details !== null ? (details as Readonly<Record<string, unknown>>) : {};
}

const strings = (value: unknown): readonly string[] => (Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []);

/** What the tools of a turn sent to somebody by themselves. */
export function sentIn(messages: readonly Message[]): readonly Sent[] {
  return messages.flatMap((message) => {
    const { sent } = detailsOf(message);
    const list: readonly unknown[] = Array.isArray(sent) ? sent : [sent];
    return list.flatMap((one) => {
      const { target, texts, mediaUrls } = (one ?? {}) as Readonly<Record<string, unknown>>;
      return typeof target === 'string' && target ? [{ target, texts: strings(texts), mediaUrls: strings(mediaUrls) }] : [];
    });
  });
}

/** Characters of one that is passed on. */
const longest = 4096;

/** What they made for the user to see or hear, which goes out with the reply. */
export const mediaMadeIn = (messages: readonly Message[]): readonly string[] =>
  messages.flatMap((message) => strings(detailsOf(message)['mediaUrls']).filter((url) => url !== '' && url.length <= longest));

/** Whether a turn that says nothing more has told somebody something all the same. */
export const hasDelivered = (messages: readonly Message[]): boolean => sentIn(messages).length > 0 || mediaMadeIn(messages).length > 0;

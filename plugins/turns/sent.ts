import type { InboxItem } from '../inbox/contract.ts';
import type { Payload } from '../outbox/contract.ts';
import type { Entry, Message } from '../sessions/contract.ts';
import type { Messaging, Sent, TurnOutcome } from './contract.ts';
import { detailsOf, sentIn } from './contract/delivered.ts';
import { mediaIn } from './media.ts';

const cronAddsIn = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => {
    const { cronAdds } = detailsOf(message);
    return sum + (Number.isSafeInteger(cronAdds) && Number(cronAdds) > 0 ? Number(cronAdds) : 0);
  }, 0);

/** SPEC 6.2: of a turn's messages. */
export function messagingOf(messages: readonly Message[]): Messaging {
  const sent = sentIn(messages);
  return {
    didSendViaMessagingTool: sent.length > 0,
    messagingToolSentTexts: sent.flatMap(({ texts = [] }) => texts),
    messagingToolSentMediaUrls: sent.flatMap(({ mediaUrls = [] }) => mediaUrls),
    messagingToolSentTargets: [...new Set(sent.map(({ target }) => target))],
    successfulCronAdds: cronAddsIn(messages),
  };
}

/** Letters that look alike and spaces do not make another text of it. */
const plain = (text: string) => text.normalize('NFKC').replace(/\s+/g, ' ').trim();

/**
 * The payloads without what was sent to the same place already, text and media each for itself. Errors and thinking are
 * nothing that a tool sends.
 */
export function withoutRepeats(payloads: readonly Payload[], sentHere: readonly Sent[]): readonly Payload[] {
  if (sentHere.length === 0) return payloads;
  const texts = sentHere.map((sent) => plain((sent.texts ?? []).join('\n')));
  const known = new Set([...texts, ...sentHere.flatMap((sent) => (sent.texts ?? []).map(plain)), plain(texts.join('\n'))]);
  const media = new Set(sentHere.flatMap(({ mediaUrls = [] }) => mediaUrls));
  return payloads.flatMap((payload) => {
    if (payload.isError || payload.isReasoning) return [payload];
    const { text, mediaUrl, mediaUrls, ...rest } = payload;
    const isTold = text !== undefined && text.trim() !== '' && known.has(plain(text));
    const left = mediaUrls?.filter((url) => !media.has(url));
    const kept: Payload = {
      ...rest,
      ...(text !== undefined && !isTold && { text }),
      ...(mediaUrl !== undefined && !media.has(mediaUrl) && { mediaUrl }),
      ...(left?.length && { mediaUrls: left }),
    };
    return kept.text || kept.mediaUrl || kept.mediaUrls ? [kept] : [];
  });
}

/** The end of a turn as it is told: from what its transcript holds, so that it is the same after a crash. */
export function told(outcome: TurnOutcome, messages: readonly Message[], item: Pick<InboxItem, 'route' | 'sessionKey'>): TurnOutcome {
  const messaging = messagingOf(messages);
  const isHere = ({ target }: Sent) => target === item.route || target === item.sessionKey;
  const sentHere = sentIn(messages).filter(isHere);
  const isWhole = !outcome.error && outcome.stopReason !== 'aborted';
  const mediaSent = sentHere.flatMap(({ mediaUrls = [] }) => mediaUrls);
  const media = isWhole ? mediaIn(messages, mediaSent, outcome.payloads) : [];
  if (!messaging.didSendViaMessagingTool && messaging.successfulCronAdds === 0)
    return media.length ? { ...outcome, payloads: [...outcome.payloads, ...media] } : outcome;
  return { ...outcome, payloads: [...withoutRepeats(outcome.payloads, sentHere), ...media], messaging };
}

/** The messages of an item's turn so far. */
export const messagesSince = (entries: readonly Entry[], itemId: string): readonly Message[] =>
  entries.slice(entries.findLastIndex((entry) => entry.itemId === itemId) + 1).map(({ message }) => message);

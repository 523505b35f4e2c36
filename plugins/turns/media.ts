import type { Payload } from '../outbox/contract.ts';
import type { Message } from '../sessions/contract.ts';

const caps = { media: 20, length: 4096 };

/** SPEC 2.4: the media that results of a turn's tools made for the user, as a payload of their own; each once. */
export function mediaIn(messages: readonly Message[], sent: readonly string[], said: readonly Payload[]): readonly Payload[] {
  const known = new Set([...sent, ...said.flatMap(({ mediaUrl, mediaUrls = [] }) => [...(mediaUrl ? [mediaUrl] : []), ...mediaUrls])]);
  const made = messages.flatMap((message) => {
    const { mediaUrls } =
      message.role === 'toolResult' && !message.isError ? ((message.details ?? {}) as { readonly mediaUrls?: unknown }) : {};
    return Array.isArray(mediaUrls)
      ? mediaUrls.filter((url): url is string => typeof url === 'string' && url !== '' && url.length <= caps.length)
      : [];
  });
  const left = [...new Set(made)].filter((url) => !known.has(url)).slice(0, caps.media);
  return left.length ? [{ mediaUrls: left }] : [];
}

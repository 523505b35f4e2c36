import type { Payload } from '../outbox/contract.ts';
import type { Message } from '../sessions/contract.ts';
import { mediaMadeIn } from './contract/delivered.ts';

const most = 20;

/** SPEC 2.4: the media that results of a turn's tools made for the user, as a payload of their own; each once. */
export function mediaIn(messages: readonly Message[], sent: readonly string[], said: readonly Payload[]): readonly Payload[] {
  const known = new Set([...sent, ...said.flatMap(({ mediaUrl, mediaUrls = [] }) => [...(mediaUrl ? [mediaUrl] : []), ...mediaUrls])]);
  const left = [...new Set(mediaMadeIn(messages))].filter((url) => !known.has(url)).slice(0, most);
  return left.length ? [{ mediaUrls: left }] : [];
}

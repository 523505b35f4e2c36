import type { Inbound, PeerKind } from './contract.ts';

export const defaultAccount = 'default';

/** Platforms whose ids mean the same in upper and lower case. */
const caseless = new Set(['slack', 'irc', 'imessage', 'msteams']);

export const channelOf = (channel: string) => channel.trim().toLowerCase();
/** Accounts are named by people, in the config: case and surrounding space are no difference. */
export const accountOf = (accountId: string | undefined) => accountId?.trim().toLowerCase() || defaultAccount;
export const idOn = (channel: string, id: string | number) => (caseless.has(channelOf(channel)) ? String(id).toLowerCase() : String(id));
export const kindOf = (kind: PeerKind | 'dm'): PeerKind => (kind === 'dm' ? 'direct' : kind);

/** Some platforms call a room a group and others a channel; users' bindings have either. */
export const isSameKind = (one: PeerKind, other: PeerKind) => (one === 'direct') === (other === 'direct');

/** The names under which a binding can mean the thread itself and not the chat around it. */
export function threadNames({ peer, threadId }: Inbound): readonly string[] {
  if (!peer || threadId === undefined) return [];
  const inside = [`${peer.id}:topic:${threadId}`, `${peer.id}:thread:${threadId}`];
  return peer.kind === 'channel' ? [...inside, threadId] : inside; // on Discord a thread is a channel with an id of its own
}

import type { Subject } from '../../kernel/index.ts';
import type { Inbound, KeyOrigin, PeerKind } from './contract.ts';
import { decodePart, encodePart } from './key-part.ts';
import { accountOf, channelOf, defaultAccount, idOn } from './origin.ts';

export type DmScope = 'main' | 'per-peer' | 'per-channel-peer' | 'per-account-channel-peer';

/** The fields of `session` that make keys. */
export interface Keying {
  readonly dmScope?: DmScope;
  readonly mainKey?: string;
  readonly identityLinks?: Readonly<Record<string, readonly string[]>>;
  /** The binding whose own `session.dmScope` this is, for people. */
  readonly scopeFrom?: string;
}

export interface Keyed {
  readonly key: string;
  readonly session: NonNullable<Subject['session']>;
  readonly why: string;
}

/**
 * SPEC 12.4: `agent:<agentId>:<channel>:<kind>:<peer>`, with `:thread:<id>` (on Telegram `:topic:<id>`) at the end. Direct chats follow
 * `session.dmScope`. An account that is not the default one is part of the key: rooms of two servers may have one name.
 */
export function sessionKeyOf(agentId: string, inbound: Inbound, keying: Keying = {}): Keyed {
  const { peer, threadId } = inbound;
  const base = peer && peer.kind !== 'direct' ? groupPlace(inbound) : directPlace(inbound, keying);
  const marker = channelOf(inbound.channel) === 'telegram' && base.session === 'group' ? 'topic' : 'thread';
  const thread = threadId === undefined ? [] : [marker, encodePart(idOn(inbound.channel, threadId))];
  const key = ['agent', agentId, ...base.parts, ...thread].join(':');
  return threadId === undefined ? { ...base, key } : { key, session: 'thread', why: `${base.why}, each thread one of its own` };
}

interface Place extends Omit<Keyed, 'key'> {
  readonly parts: readonly string[];
}

function groupPlace({ channel, accountId, peer = { kind: 'group', id: '' } }: Inbound): Place {
  const account = accountOf(accountId);
  const where = [channelOf(channel), ...(account === defaultAccount ? [] : [account])].map(encodePart);
  return {
    parts: [...where, peer.kind, encodePart(idOn(channel, peer.id))],
    session: 'group',
    why: `each ${peer.kind} has a session of its own`,
  };
}

function directPlace({ channel, accountId, peer }: Inbound, keying: Keying): Place {
  const { dmScope = 'main', mainKey, identityLinks = {}, scopeFrom } = keying;
  const scope = `${scopeFrom ? `${scopeFrom}.` : ''}session.dmScope is "${dmScope}"`;
  const main = encodePart(mainKey?.trim().toLowerCase() || 'main');
  if (!peer) return { parts: [main], session: 'main', why: 'no peer is named, so it is the main session' };
  if (dmScope === 'main') return { parts: [main], session: 'main', why: `${scope}: direct chats share one session` };
  const { part, name } = personOf(idOn(channel, peer.id), channelOf(channel), identityLinks);
  const where = { 'per-peer': [], 'per-channel-peer': [channel], 'per-account-channel-peer': [channel, accountOf(accountId)] }[dmScope];
  const linked = name === undefined ? '' : `; session.identityLinks says that this is ${name}`;
  return {
    parts: [...where.map((one) => encodePart(channelOf(one))), 'direct', part],
    session: 'direct',
    why: `${scope}${linked}`,
  };
}

/** The name that an id is linked to. A stranger who calls himself as a linked person is marked, so as not to get that person's session. */
function personOf(id: string, channel: string, links: NonNullable<Keying['identityLinks']>) {
  const candidates = [id, `${channel}:${id}`].map((one) => one.trim().toLowerCase());
  const names = Object.keys(links).map((name) => [name, name.trim().toLowerCase()] as const);
  const linked = names.find(([name]) => links[name]?.some((one) => candidates.includes(one.trim().toLowerCase())));
  if (linked) return { part: encodePart(linked[1]), name: linked[0] };
  return { part: names.some(([, lower]) => lower === id) ? `%!${encodePart(id)}` : encodePart(id), name: undefined };
}

const kinds: readonly string[] = ['direct', 'group', 'channel'] satisfies readonly PeerKind[];

/** The reverse of `sessionKeyOf`; undefined for keys that no channel made, such as those of sub-agents. */
export function parseSessionKey(key: string): KeyOrigin | undefined {
  const [head, agentId, ...rest] = key.split(':');
  if (head !== 'agent' || !agentId || rest.length === 0) return undefined;
  const isThread = rest.length > 2 && ['thread', 'topic'].includes(rest.at(-2) ?? '');
  const threadId = isThread ? decodePart(rest.at(-1) ?? '') : undefined;
  const place = placeOf(isThread ? rest.slice(0, -2) : rest);
  if (!place || (isThread && threadId === undefined)) return undefined;
  return { agentId, ...place, ...(threadId !== undefined && { threadId }) };
}

function placeOf(parts: readonly string[]): Omit<KeyOrigin, 'agentId' | 'threadId'> | undefined {
  if (parts.length === 1) {
    const mainKey = decodePart(parts[0] ?? '');
    return mainKey === undefined ? undefined : { mainKey };
  }
  const [kind = '', part = ''] = parts.slice(-2);
  const id = decodePart(part.replace(/^%!/, ''));
  const [channel, accountId, ...more] = parts.slice(0, -2).map(decodePart);
  const isOurs = kinds.includes(kind) && id !== undefined && more.length === 0 && (channel !== undefined || kind === 'direct');
  if (!isOurs || (parts.length === 4 && accountId === undefined) || (parts.length === 3 && channel === undefined)) return undefined;
  return { ...(channel !== undefined && { channel }), ...(accountId !== undefined && { accountId }), peer: { kind: kind as PeerKind, id } };
}

import type { Inbound, Judged, Tier } from './contract.ts';
import { accountOf, channelOf, defaultAccount, idOn, isSameKind, kindOf, threadNames } from './origin.ts';
import type { Binding, Match } from './schema.ts';

const tiers: readonly Tier[] = ['peer', 'parent peer', 'any peer', 'guild with roles', 'guild', 'team', 'account', 'channel', 'default'];

export interface Route {
  readonly tier: Tier;
  /** Absent where no binding fits. */
  readonly winner?: Judged;
  readonly lost: readonly Judged[];
}

/** SPEC 1.5: the most specific binding that fits; of equals the first of the config. Every other says why it lost. */
export function route(bindings: readonly Binding[], inbound: Inbound): Route {
  const judged = bindings.map((binding, index) => ({ index, agentId: binding.agentId, fit: fitOf(binding.match, inbound) }));
  const fitting = judged.flatMap(({ fit, ...one }) => (fit.tier ? [{ ...one, tier: fit.tier, why: fit.why }] : []));
  const best = fitting.toSorted((a, b) => rank(a.tier) - rank(b.tier))[0]; // a stable sort: config order decides between equals
  const tier = best?.tier ?? 'default';
  const lost = judged
    .filter(({ index }) => index !== best?.index)
    .map(({ fit, ...one }) => ({ ...one, why: fit.tier ? behind(fit.tier, tier) : fit.why }));
  if (!best) return { tier, lost };
  return { tier, winner: { index: best.index, agentId: best.agentId, why: best.why }, lost };
}

const rank = (tier: Tier) => tiers.indexOf(tier);

const behind = (tier: Tier, winning: Tier) =>
  tier === winning ? 'fits as well, but stands later in the list' : `fits too, but ${winning} comes before ${tier}`;

type Fit = { readonly tier: Tier; readonly why: string } | { readonly tier?: undefined; readonly why: string };

/** All that a binding asks for must be so; the most specific of it is its tier. */
function fitOf(match: Match, inbound: Inbound): Fit {
  const why = strange(match, inbound);
  if (why) return { why };
  const { peer, guildId, teamId, roles = [], accountId } = match;
  const channel = channelOf(match.channel);
  if (peer) return peerTier(match, inbound) ?? { why: 'its peer is another' };
  if (guildId !== undefined && roles.length) return { tier: 'guild with roles', why: `is for guild ${guildId} and a role of the sender` };
  if (guildId !== undefined) return { tier: 'guild', why: `is for guild ${guildId}` };
  if (teamId !== undefined) return { tier: 'team', why: `is for team ${teamId}` };
  if (accountId?.trim() === '*') return { tier: 'channel', why: `is for every account of ${channel}` };
  return { tier: 'account', why: `is for account "${accountOf(accountId)}" of ${channel}` };
}

/** The first thing of the match that the message is not. */
function strange(match: Match, inbound: Inbound): string | undefined {
  const { channel, accountId, peer, guildId, teamId, roles = [] } = match;
  if (channelOf(channel) !== channelOf(inbound.channel)) return `is for ${channelOf(channel)}`;
  return (
    strangeAccount(accountId, inbound) ??
    (peer && !peerTier(match, inbound) ? strangePeer(peer, inbound) : undefined) ??
    strangeId('guild', guildId, inbound.guildId, channel) ??
    strangeId('team', teamId, inbound.teamId, channel) ??
    strangeRoles(roles.map(String), inbound)
  );
}

function strangeAccount(accountId: string | undefined, inbound: Inbound): string | undefined {
  const [wanted, given] = [accountOf(accountId), accountOf(inbound.accountId)];
  if (wanted === '*' || wanted === given) return undefined;
  if (accountId?.trim()) return `is for account "${wanted}", not for "${given}"`;
  return `names no account, which means "${defaultAccount}" and not "${given}" ("*" is any)`;
}

function strangePeer(peer: NonNullable<Match['peer']>, { peer: given, threadId }: Inbound): string {
  const wanted = peer.id === '*' ? `every ${kindOf(peer.kind)} chat` : `${kindOf(peer.kind)}:${peer.id}`;
  if (!given) return `is for ${wanted}, and the message names no peer`;
  const slip = String(peer.id) !== given.id && String(peer.id).toLowerCase() === given.id.toLowerCase() ? ' (case counts here)' : '';
  return `is for ${wanted}, not for ${given.kind}:${given.id}${threadId === undefined ? '' : ` or its thread ${threadId}`}${slip}`;
}

function strangeId(what: string, wanted: string | number | undefined, given: string | undefined, channel: string): string | undefined {
  if (wanted === undefined || (given !== undefined && idOn(channel, wanted) === idOn(channel, given))) return undefined;
  return `is for ${what} ${wanted}, ${given === undefined ? `and the message names no ${what}` : `not for ${given}`}`;
}

function strangeRoles(wanted: readonly string[], { roles = [] }: Inbound): string | undefined {
  if (wanted.length === 0 || wanted.some((role) => roles.includes(role))) return undefined;
  return `asks for ${wanted.length === 1 ? 'the role' : 'one of the roles'} ${wanted.join(', ')}; the sender has ${roles.join(', ') || 'none'}`;
}

function peerTier({ peer, channel }: Match, inbound: Inbound): { readonly tier: Tier; readonly why: string } | undefined {
  if (!peer || !inbound.peer || !isSameKind(kindOf(peer.kind), inbound.peer.kind)) return undefined;
  const wanted = idOn(channel, peer.id);
  const isNamed = (id: string) => idOn(channel, id) === wanted;
  const name = `${kindOf(peer.kind)}:${peer.id}`;
  if (threadNames(inbound).some(isNamed)) return { tier: 'peer', why: `is for the thread ${peer.id}` };
  if (isNamed(inbound.peer.id)) {
    return inbound.threadId === undefined
      ? { tier: 'peer', why: `is for ${name}` }
      : { tier: 'parent peer', why: `is for ${name}, which the thread is in` };
  }
  return peer.id === '*' ? { tier: 'any peer', why: `is for every ${kindOf(peer.kind)} chat` } : undefined;
}

import { nearest } from '../../kernel/index.ts';
import { type Method, refusal } from '../gateway/contract.ts';
import type { Explanation, Inbound, Judged, Peer, PeerKind, Placed, Routing } from './contract.ts';
import { accountOf, channelOf, kindOf } from './origin.ts';
import type { Binding } from './schema.ts';

type Params = Readonly<Record<string, unknown>>;
type PlaceOf = (path: string) => string;

/**
 * `route.explain {channel, accountId?, peer?: "kind:id", threadId?, guildId?, teamId?, roles?, text?}` → `Explanation`: what a message of
 * this origin would come to now, by the code that decides it.
 */
export function explainMethod(bindings: readonly Binding[], routing: Routing, place: PlaceOf): Method {
  return async (params, _client, run): Promise<Explanation> => {
    const inbound = inboundOf(params);
    const text = wordOf(params, 'text', 20_000);
    const { winner, lost, ...decision } = routing.decide(inbound, run);
    const mention = text === undefined ? undefined : await routing.mentioned(decision.agentId, text, run);
    const hint = hintOf(inbound.channel, bindings);
    const placed = (judged: Judged): Placed => {
      const comment = bindings[judged.index]?.comment;
      return { ...judged, place: place(`bindings[${judged.index}]`), ...(comment && { comment }) };
    };
    return {
      inbound,
      ...decision,
      ...(winner && { winner: placed(winner) }),
      lost: lost.map(placed),
      ...(mention && { mention }),
      ...(hint && { hint }),
    };
  };
}

function inboundOf(params: Params): Inbound {
  const channel = wordOf(params, 'channel');
  if (channel === undefined) throw wrong('"channel" is missing');
  const [guildId, teamId, threadId] = [wordOf(params, 'guildId'), wordOf(params, 'teamId'), wordOf(params, 'threadId')];
  const peer = peerOf(wordOf(params, 'peer'));
  if (threadId !== undefined && !peer) throw wrong('"threadId" needs "peer": the chat that the thread is in');
  return {
    channel: channelOf(channel),
    accountId: accountOf(wordOf(params, 'accountId')),
    ...(peer && { peer }),
    ...(threadId !== undefined && { threadId }),
    ...(guildId !== undefined && { guildId }),
    ...(teamId !== undefined && { teamId }),
    ...(params.roles !== undefined && { roles: rolesOf(params.roles) }),
  };
}

const kinds = ['direct', 'dm', 'group', 'channel'] as const;

function peerOf(text: string | undefined): Peer | undefined {
  if (text === undefined) return undefined;
  const [, kind = '', id = ''] = /^([^:]*):?(.*)$/s.exec(text) ?? [];
  const known = kinds.find((one) => one === kind);
  if (known && id) return { kind: kindOf(known satisfies PeerKind | 'dm'), id };
  const near = known ? undefined : nearest(kind, kinds);
  throw wrong(
    `"peer" is kind:id such as direct:123 or group:-100, with one of the kinds ${kinds.join(', ')}${near ? `; did you mean "${near}"?` : ''}`,
  );
}

function rolesOf(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length > 500) throw wrong('"roles" must be a list of at most 500 role ids');
  return value.map((role, i) => wordOf({ [`roles[${i}]`]: role }, `roles[${i}]`) ?? '');
}

function wordOf(params: Params, name: string, limit = 512): string | undefined {
  const value = params[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' || value.trim() === '' || value.length > limit) throw wrong(`"${name}" must be 1 to ${limit} characters`);
  return value;
}

const wrong = (what: string) => refusal(400, 'ROUTE_PARAMS', what);

/** A channel that no binding names is most often a slip where one has nearly that name. */
function hintOf(channel: string, bindings: readonly Binding[]): string | undefined {
  const named = new Set(bindings.map(({ match }) => channelOf(match.channel)));
  const near = named.has(channel) ? undefined : nearest(channel, named);
  return near && `no binding is for channel "${channel}"; did you mean "${near}"?`;
}

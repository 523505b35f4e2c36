import { Agents } from '../agents/contract.ts';
import { SessionSettings } from '../sessions/contract.ts';
import type { Inbound, Judged, Routing } from './contract.ts';
import { agentOf } from './faults.ts';
import { openMentions } from './mentions.ts';
import { type Route, route } from './route.ts';
import type { Binding } from './schema.ts';
import { type Keying, parseSessionKey, sessionKeyOf } from './session-key.ts';

/** Decides anew for each message: nothing is remembered of the one before. */
export function openRouting(bindings: readonly Binding[]): Routing {
  const mentioned = openMentions();
  return {
    originOf: parseSessionKey,
    decide(inbound, run) {
      const agents = run.get(Agents);
      const { tier, winner, lost } = route(bindings, inbound);
      const agentId = (winner && agentOf(winner.agentId, agents.ids)) ?? agents.defaultId;
      const own = winner && bindings[winner.index]?.session?.dmScope;
      const keying: Keying = {
        ...run.find(SessionSettings),
        ...(winner && own && { dmScope: own, scopeFrom: `bindings[${winner.index}]` }),
      };
      const { key, session, why } = sessionKeyOf(agentId, inbound, keying);
      const reason = reasonOf({ tier, winner, lost }, inbound, agentId, agents);
      return { agentId, sessionKey: key, session, tier, reason, sessionReason: why, ...(winner && { winner }), lost };
    },
    mentioned(agentId, text, run) {
      const agents = run.get(Agents);
      const identity = agents.own(agentId)?.identity;
      const mentionPatterns = agents.field<readonly string[]>(agentId, 'groupChat.mentionPatterns');
      return mentioned({ ...(identity && { identity }), ...(mentionPatterns && { groupChat: { mentionPatterns } }) }, text);
    },
  };
}

interface Decided extends Omit<Route, 'winner'> {
  readonly winner: Judged | undefined;
}

function reasonOf({ winner, lost }: Decided, { channel }: Inbound, agentId: string, agents: Agents): string {
  if (!winner) return `${lost.length ? 'no binding fits' : 'there are no bindings'}, and "${agentId}" is the default agent`;
  const decided = `bindings[${winner.index}] ${winner.why}`;
  if (agentOf(winner.agentId, agents.ids)) return decided;
  return `${decided}, but there is no agent "${winner.agentId}": the default agent answers on ${channel}`;
}

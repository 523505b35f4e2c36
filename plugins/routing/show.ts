import { homedir } from 'node:os';
import { relative } from 'node:path';
import { bold, columns, dim, hanging, oneLine, plain } from '../cli/contract.ts';
import type { Explanation, Placed } from './contract.ts';

/** The decision first, then each binding that lost with its reason and place. */
export function show(explanation: Explanation): string {
  const { agentId, reason, sessionKey, sessionReason, winner, lost, mention, hint } = explanation;
  const why = plain(reason) + (winner ? `${commentOf(winner)}  ${dim(shortPlace(winner.place))}` : '');
  const facts = [
    { label: 'message', value: originOf(explanation) },
    { label: 'agent', value: bold(plain(agentId)) },
    { label: '', value: why },
    { label: 'session', value: bold(plain(sessionKey)) },
    { label: '', value: plain(sessionReason) },
    ...(mention
      ? [
          { label: 'mentioned', value: bold(mention.isMentioned ? 'yes' : 'no') },
          { label: '', value: plain(mention.why) },
        ]
      : []),
    ...(hint ? [{ label: 'hint', value: plain(hint) }] : []),
  ];
  return lost.length ? `${columns(facts)}\n\n  ${dim('The other bindings')}\n${table(lost)}` : columns(facts);
}

function originOf({ inbound }: Explanation): string {
  const { channel, accountId, peer, threadId, guildId, teamId, roles = [] } = inbound;
  const parts = [
    channel,
    `account ${accountId}`,
    peer && `${peer.kind}:${peer.id}`,
    threadId !== undefined && `thread ${threadId}`,
    guildId !== undefined && `guild ${guildId}`,
    teamId !== undefined && `team ${teamId}`,
    roles.length > 0 && `roles ${roles.join(', ')}`,
  ];
  return plain(parts.filter(Boolean).join(' · '));
}

function table(lost: readonly Placed[]): string {
  const rows = lost.map((one) => [`[${one.index}]`, plain(one.agentId), shortPlace(one.place)] as const);
  const [number, agent, place] = [0, 1, 2].map((i) => Math.max(...rows.map((row) => row[i]?.length ?? 0))) as [number, number, number];
  const line = ([index, id, where]: (typeof rows)[number], one: Placed) => {
    const head = `  ${dim(index.padStart(number))} ${id.padEnd(agent)}  ${dim(where.padEnd(place))}  `;
    return head + hanging(`${plain(one.why)}${commentOf(one)}`, number + agent + place + 7);
  };
  return rows.map((row, i) => line(row, lost[i] as Placed)).join('\n');
}

const commentOf = ({ comment }: Placed) => (comment ? dim(` — ${oneLine(comment, 60)}`) : '');

/** From the folder where the person is, or from home, where that is shorter. */
function shortPlace(place: string): string {
  if (!place.startsWith('/')) return plain(place);
  const ways = [place, relative(process.cwd(), place), place.startsWith(`${homedir()}/`) ? `~${place.slice(homedir().length)}` : place];
  return plain(ways.toSorted((a, b) => a.length - b.length)[0] ?? place);
}

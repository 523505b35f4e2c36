import { nearest, type Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { type Client, refusal } from '../gateway/contract.ts';
import { Routing } from '../routing/contract.ts';
import { agentOfKey, sessionKey as keyOf } from '../sessions/contract.ts';
import { type Params, wordOf, wrong } from './params.ts';

export interface Address {
  readonly agentId: string;
  readonly sessionKey: string;
}

/** A client by its channel: bindings may name it. */
export const channelOf = ({ kind }: Pick<Client, 'kind'>) => (kind === 'terminal' ? 'terminal' : 'webchat');

/** Who answers a client that names no agent. */
export const usualAgent = (client: Pick<Client, 'kind'>, run: Run): string =>
  run.find(Routing)?.decide({ channel: channelOf(client) }, run).agentId ?? run.get(Agents).defaultId;

/** Whom a message is for: the agent named, else the session's own, else the client's usual one; without a session its main one. */
export function addressOf(params: Params, client: Client, run: Run): Address {
  const agents = run.get(Agents);
  const named = wordOf(params, 'agentId');
  const key = wordOf(params, 'sessionKey') ?? 'main';
  const owner = agentOfKey(key);
  if (named && owner && named !== owner) throw wrong(`session "${key}" belongs to agent "${owner}", not to "${named}"`);
  const agentId = named ?? owner ?? usualAgent(client, run);
  if (!agents.ids.includes(agentId)) {
    const near = nearest(agentId, agents.ids);
    throw refusal(
      404,
      'AGENT_UNKNOWN',
      `there is no agent "${agentId}"; ${near ? `did you mean "${near}"?` : `agents here: ${agents.ids.join(', ')}`}`,
    );
  }
  return { agentId, sessionKey: keyOf(agentId, key) };
}

/** A session that is named, whether or not its agent still exists. */
export function namedSession(params: Params, client: Client, run: Run): string {
  const key = wordOf(params, 'sessionKey');
  if (key === undefined) throw wrong('"sessionKey" is missing');
  return keyOf(usualAgent(client, run), key);
}

import { nearest, type Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { refusal } from '../gateway/contract.ts';
import { agentOfKey, sessionKey as keyOf } from '../sessions/contract.ts';
import { type Params, wordOf, wrong } from './params.ts';

export interface Address {
  readonly agentId: string;
  readonly sessionKey: string;
}

/** Whom a message is for: the agent named, else the session's own, else the default one; without a session its main one. */
export function addressOf(params: Params, run: Run): Address {
  const agents = run.get(Agents);
  const named = wordOf(params, 'agentId');
  const key = wordOf(params, 'sessionKey') ?? 'main';
  const owner = agentOfKey(key);
  if (named && owner && named !== owner) throw wrong(`session "${key}" belongs to agent "${owner}", not to "${named}"`);
  const agentId = named ?? owner ?? agents.defaultId;
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
export function namedSession(params: Params, run: Run): string {
  const key = wordOf(params, 'sessionKey');
  if (key === undefined) throw wrong('"sessionKey" is missing');
  return keyOf(run.get(Agents).defaultId, key);
}

import { nearest } from '../../kernel/index.ts';
import { type Method, refusal } from '../gateway/contract.ts';
import { type AgentLine, type AgentShown, Agents } from './contract.ts';
import { effectiveFields, effectiveModel } from './effective.ts';

/** `agents.overview {}`. */
export const overview: Method = async (_params, _client, run): Promise<{ readonly agents: readonly AgentLine[] }> => {
  const agents = run.get(Agents);
  const lines = agents.ids.map(async (id): Promise<AgentLine> => {
    const model = (await effectiveModel(run, id))?.value as string | undefined;
    const name = agents.own(id)?.name ?? agents.own(id)?.identity?.name ?? id;
    return { id, name, isDefault: id === agents.defaultId, ...(model && { model }), workspace: agents.workspace(id) };
  });
  return { agents: await Promise.all(lines) };
};

/** `agents.show {agentId?}`, else of the default agent. */
export const show: Method = async ({ agentId }, _client, run): Promise<AgentShown> => {
  const agents = run.get(Agents);
  const asked = agentId ?? agents.defaultId;
  if (typeof asked !== 'string' || asked.length > 200) throw refusal(400, 'AGENT_PARAMS', '"agentId" must be the id of an agent');
  const id = agents.sessionAgent({ agentId: asked });
  if (agents.own(id)) return { id, isDefault: id === agents.defaultId, fields: await effectiveFields(run, id) };
  const near = nearest(id, agents.ids);
  const cure = near ? `did you mean "${near}"?` : `there are ${agents.ids.join(', ')}`;
  throw refusal(404, 'AGENT_UNKNOWN', `there is no agent ${JSON.stringify(id)}; ${cure}`);
};

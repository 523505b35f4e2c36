import type { Agents } from '../agents/contract.ts';

/** Names a client may send as `model`. They mean agents, not models: which model answers is the agent's affair. */
export type Named = { readonly agentId: string; readonly explicit: boolean };

/** `instar`, `instar/default`, `instar/<agentId>`, the same with a colon, and all of it as `openclaw`. */
export function agentOfModel(name: string, agents: Agents): Named | undefined {
  const [isOurs, agentId = 'default'] = /^(?:instar|openclaw)(?:[/:](.+))?$/.exec(name) ?? [];
  if (isOurs === undefined) return undefined;
  if (agentId === 'default') return { agentId: agents.defaultId, explicit: false };
  return agents.ids.includes(agentId) ? { agentId, explicit: true } : undefined;
}

export const modelNames = ({ ids }: Agents): readonly string[] => ['instar', 'instar/default', ...ids.map((id) => `instar/${id}`)];

export const modelRecord = (id: string, created: number) => ({ id, object: 'model', created, owned_by: 'instar' });

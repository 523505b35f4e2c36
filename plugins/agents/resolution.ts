import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Host } from '../../kernel/index.ts';
import { agentOfKey } from '../sessions/contract.ts';
import type { AgentEntry, Agents } from './contract.ts';

/** SPEC 1.2. Without any agent in the config there is one, `main`. */
export function resolveAgents(
  listed: readonly AgentEntry[],
  defaults: Readonly<Record<string, unknown>>,
  host: Pick<Host, 'home'>,
): Agents {
  const entries = listed.length ? listed : [{ id: 'main' } as AgentEntry];
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const defaultId = (entries.find((entry) => entry.default) ?? entries[0])?.id ?? 'main';
  const agents: Agents = {
    ids: entries.map((entry) => entry.id),
    defaultId,
    own: (id) => byId.get(id),
    field: <T>(id: string, field: string) => (byId.get(id)?.[field] ?? defaults[field]) as T | undefined,
    sessionAgent({ agentId, sessionKey }) {
      const asked = agentId ?? (sessionKey && agentOfKey(sessionKey));
      return asked && byId.has(asked) ? asked : defaultId;
    },
    /** The defaults' workspace is shared by name: each further agent gets a folder of its own beside it. */
    workspace(id) {
      const own = byId.get(id)?.workspace;
      if (own) return absolute(own);
      const base = absolute((defaults.workspace as string | undefined) ?? join(host.home, 'workspace'));
      return id === defaultId ? base : `${base}-${id}`;
    },
    dir: (id) => absolute(byId.get(id)?.agentDir ?? join(host.home, 'agents', id)),
  };
  return agents;
}

const absolute = (path: string) => resolve(path.replace(/^~(?=$|\/)/, homedir()));

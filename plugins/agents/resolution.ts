import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { agentOfKey } from '../sessions/contract.ts';
import type { AgentEntry, Agents, AgentsConfig } from './contract.ts';

/** Without any agent in the config there is one, `main`. Of two with one id, which only a lenient config may have, the first counts. */
export function entriesOf({ list }: AgentsConfig): readonly AgentEntry[] {
  if (!list?.length) return [{ id: 'main' }];
  return list.filter(({ id }, i) => list.findIndex((other) => sameId(other.id, id)) === i);
}

/** Ids that differ only by case name one agent: they would share files on many file systems. */
export const sameId = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

/** SPEC 1.2. */
export const listAgentIds = (config: AgentsConfig): readonly string[] => entriesOf(config).map(({ id }) => id);

/** SPEC 1.2: the first with `default: true`, else the first. */
export function resolveDefaultAgentId(config: AgentsConfig): string {
  const entries = entriesOf(config);
  return (entries.find((entry) => entry.default) ?? entries[0])?.id ?? 'main';
}

/** SPEC 1.2: only the agent's own fields; undefined where there is none. */
export const resolveAgentConfig = (config: AgentsConfig, id: string): AgentEntry | undefined =>
  entriesOf(config).find((entry) => sameId(entry.id, id));

/** What a session says of its agent. */
export interface SessionQuery {
  readonly agentId?: string | undefined;
  readonly sessionKey?: string | undefined;
}

/**
 * SPEC 1.2: the explicit id, else that in the session key, else the default. An id that no agent has is given back as it is:
 * a session of a removed agent must not go on as another one.
 */
export function resolveSessionAgentIds(
  config: AgentsConfig,
  { agentId, sessionKey }: SessionQuery,
): { readonly defaultAgentId: string; readonly sessionAgentId: string } {
  const defaultAgentId = resolveDefaultAgentId(config);
  const asked = agentId?.trim() || (sessionKey && agentOfKey(sessionKey)) || defaultAgentId;
  return { defaultAgentId, sessionAgentId: resolveAgentConfig(config, asked)?.id ?? asked };
}

/** The value at `subagents.maxSpawnDepth` of an object; undefined where it, or something on the way to it, is not there. */
export function valueAt(fields: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((at, key) => (isFields(at) && Object.hasOwn(at, key) ? at[key] : undefined), fields);
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `~` is the home of the user who runs this. */
export const absolute = (path: string) => resolve(path.replace(/^~(?=$|\/)/, homedir()));

export const usualDir = (home: string, id: string) => join(home, 'agents', id);

export function resolveAgents(config: AgentsConfig, home: string): Agents {
  const defaults = config.defaults ?? {};
  const byId = new Map(entriesOf(config).map((entry) => [entry.id, entry]));
  const defaultId = resolveDefaultAgentId(config);
  return {
    ids: [...byId.keys()],
    defaultId,
    defaults,
    path: (id) =>
      `agents.list[${Math.max(
        0,
        (config.list ?? []).findIndex((entry) => entry.id === id),
      )}]`,
    own: (id) => byId.get(id),
    field: <T>(id: string, field: string) => (valueAt(byId.get(id), field) ?? valueAt(defaults, field)) as T | undefined,
    sessionAgent: (query) => resolveSessionAgentIds(config, query).sessionAgentId,
    /** The defaults' workspace is shared by name: each further agent gets a folder of its own beside it. */
    workspace(id) {
      const own = byId.get(id)?.workspace;
      if (own) return absolute(own);
      const base = absolute((defaults['workspace'] as string | undefined) ?? join(home, 'workspace'));
      return id === defaultId ? base : `${base}-${id}`;
    },
    dir: (id) => absolute(byId.get(id)?.agentDir ?? usualDir(home, id)),
  };
}

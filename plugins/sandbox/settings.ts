import type { Run, Subject } from '../../kernel/index.ts';
import { Agents, usualIn } from '../agents/contract.ts';
import { type Confinement, modeConfines, type SandboxSettings } from './contract.ts';
import { sandbox } from './schema.ts';

/** What fields of an agent are where nobody sets them, by path: `sandbox.mode`. */
export const usual = usualIn({ sandbox });

/** Field by field: the agent's own value, else that of the defaults, else the built-in one. */
export function settingsOf(agentId: string, run: Run): SandboxSettings {
  const agents = run.get(Agents);
  const field = <T>(name: string) => (agents.field<T>(agentId, `sandbox.${name}`) ?? usual[`sandbox.${name}`]) as T;
  const optional = <T>(name: string, key: string) => {
    const value = field<T | undefined>(name);
    return value === undefined ? {} : { [key]: value };
  };
  return {
    mode: field('mode'),
    ...optional<string>('backend', 'backend'),
    workspaceAccess: field('workspaceAccess'),
    scope: field('scope'),
    network: field('network'),
    readable: field('readable'),
    env: field<SandboxSettings['env'] | undefined>('env') ?? {},
    limits: { memoryMb: field('limits.memoryMb'), processes: field('limits.processes'), fileMb: field('limits.fileMb') },
    docker: {
      image: field('docker.image'),
      ...optional<string>('docker.network', 'network'),
      ...optional<string>('docker.user', 'user'),
      ...optional<number>('docker.cpus', 'cpus'),
    },
  };
}

/** Config path of a field as it counts for the agent. */
export function pathOf(agentId: string, name: string, run: Run): string {
  const agents = run.get(Agents);
  const own = (agents.own(agentId)?.['sandbox'] ?? {}) as Readonly<Record<string, unknown>>;
  return own[name] === undefined ? `agents.defaults.sandbox.${name}` : `${agents.path(agentId)}.sandbox.${name}`;
}

/** Whether anybody wrote the mode that counts for the agent. */
export function isSet(agentId: string, run: Run): boolean {
  const agents = run.get(Agents);
  return [agents.own(agentId), agents.defaults].some(
    (one) => (one?.['sandbox'] as { readonly mode?: unknown } | undefined)?.mode !== undefined,
  );
}

export function confinement(agentId: string, session: Subject['session'], run: Run): Confinement {
  const { mode } = settingsOf(agentId, run);
  const isSandboxed = modeConfines(mode, session);
  const which = mode === 'non-main' ? `, and this is ${session === 'main' ? 'the main session' : 'not the main session'}` : '';
  return { isSandboxed, why: `sandbox.mode of agent "${agentId}" is "${mode}"${which}`, path: pathOf(agentId, 'mode', run) };
}

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Host, KernelError, nearest, type Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { Turn } from '../turns/contract.ts';
import { type Backend, type Probe, type Sandbox, SandboxBackends, type SandboxSettings, type Whose, type World } from './contract.ts';
import { hiddenIn, made, pathsOf, scopeFolder, unfit } from './folders.ts';
import { confinement, pathOf, settingsOf } from './settings.ts';

export const sandbox: Sandbox = {
  confines: confinement,
  workspace: workspaceOf,
  worldOf(run) {
    if (!run.subject.sandboxed) return undefined;
    const turn = run.find(Turn);
    const agentId = run.subject.agent ?? run.get(Agents).defaultId;
    return worldFor({ agentId, sessionKey: turn?.sessionKey }, run);
  },
};

/** With `none` the agent's own files are not there at all: an empty folder is in their place. */
export function workspaceOf(whose: Whose, run: Run): string {
  const settings = settingsOf(whose.agentId, run);
  if (settings.workspaceAccess !== 'none') return run.get(Agents).workspace(whose.agentId);
  return join(scopeFolder(run.get(Host).home, settings, whose), 'workspace');
}

export function worldFor(whose: Whose, run: Run): World {
  const settings = settingsOf(whose.agentId, run);
  const host = run.get(Host);
  const workspace = workspaceOf(whose, run);
  const paths = pathsOf(scopeFolder(host.home, settings, whose));
  const isWritable = settings.workspaceAccess !== 'ro';
  return {
    settings,
    workspace,
    isWritable,
    paths,
    async exists() {
      const chosen = await choose(settings, run);
      if ('why' in chosen) return refusalText(whose.agentId, chosen.why, run);
      const why = await unfit((await made(workspace, paths)).workspace, isWritable, run);
      return why && refusalText(whose.agentId, why, run);
    },
    async wrap(launch) {
      const chosen = await choose(settings, run);
      if ('why' in chosen) throw new KernelError('SANDBOX_UNAVAILABLE', refusalText(whose.agentId, chosen.why, run));
      const real = await made(workspace, paths);
      const why = await unfit(real.workspace, isWritable, run);
      if (why) throw new KernelError('SANDBOX_UNAVAILABLE', refusalText(whose.agentId, why, run));
      const hidden = await hiddenIn(real.workspace, settings.readable, run);
      return chosen.backend.wrap(launch, { settings, isWritable, hidden, hostEnv: host.env, owner: ownerOf(host.home), ...real });
    },
  };
}

const refusalText = (agentId: string, why: string, run: Run) =>
  `agent "${agentId}" works in a sandbox only, and there is none: ${why}. Nothing runs outside it instead; ` +
  `to give the sandbox up set ${pathOf(agentId, 'mode', run)} to "off"`;

/** Tells this state folder's containers from those of others. */
export const ownerOf = (home: string): string => createHash('sha256').update(home).digest('hex').slice(0, 12);

export type Chosen = { readonly name: string; readonly backend: Backend; readonly is: string } | { readonly why: string };

/** The backend that is named, else the first that works. */
export async function choose(settings: SandboxSettings, run: Run): Promise<Chosen> {
  const backends = await run.call(SandboxBackends, {});
  const names = settings.backend === undefined ? Object.keys(backends) : [settings.backend];
  const faults: string[] = [];
  for (const name of names) {
    const backend = Object.hasOwn(backends, name) ? backends[name] : undefined;
    const probe: Probe = backend
      ? await backend.probe(settings, run.get(Host).env)
      : { works: false, why: unknown(name, Object.keys(backends)) };
    if (backend && probe.works) return { name, backend, is: probe.is };
    if (!probe.works) faults.push(probe.why);
  }
  return { why: faults.join('; or ') || 'no plugin brings a backend' };
}

export function unknown(name: string, names: readonly string[]): string {
  const near = nearest(name, names);
  return `there is no backend "${name}"; ${near ? `did you mean "${near}"?` : `there are ${names.join(', ')}`}`;
}

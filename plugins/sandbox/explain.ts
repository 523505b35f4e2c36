import { Host, nearest, type Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { type Method, refusal } from '../gateway/contract.ts';
import { agentOfKey, sessionKey as keyOf } from '../sessions/contract.ts';
import { SandboxBackends, type SandboxExplained, type SandboxSettings, type Whose } from './contract.ts';
import { realOf, unfit } from './folders.ts';
import { choose, unknown, workspaceOf } from './sandbox.ts';
import { confinement, isSet, settingsOf } from './settings.ts';

/** `sandbox.explain {agentId?, sessionKey?}` → `SandboxExplained`, by the code that decides. */
export const explain: Method = async (params, _client, run): Promise<SandboxExplained> => {
  const whose = whoseOf(word(params, 'agentId'), word(params, 'sessionKey'), run);
  const { agentId, sessionKey } = whose;
  const settings = settingsOf(agentId, run);
  // A place in the text is no reason for what nobody wrote.
  const place = (path: string) => (isSet(agentId, run) ? run.get(Host).place(path) : `built in; ${path} sets it`);
  const verdict = (session: string, isMain: boolean) => {
    const found = confinement(agentId, isMain ? 'main' : 'direct', run);
    return { session, ...found, place: place(found.path) };
  };
  const main = `agent:${agentId}:main`;
  const sessions =
    sessionKey === undefined ? [verdict(main, true), verdict('every other', false)] : [verdict(sessionKey, sessionKey === main)];
  const isUsed = sessions.some(({ isSandboxed }) => isSandboxed);
  return {
    agentId,
    ...(sessionKey !== undefined && { sessionKey }),
    sessions,
    backends: await backendsOf(settings, isUsed, run),
    ...(isUsed && { world: await worldShown(settings, whose, run) }),
  };
};

async function backendsOf(settings: SandboxSettings, isUsed: boolean, run: Run): Promise<SandboxExplained['backends']> {
  const backends = await run.call(SandboxBackends, {});
  const chosen = await choose(settings, run);
  const named = settings.backend;
  const shown = Object.entries(backends).map(async ([name, backend]) => {
    const probe = await backend.probe(settings, run.get(Host).env);
    return {
      name,
      works: probe.works,
      says: probe.works ? probe.is : probe.why,
      isUsed: isUsed && 'name' in chosen && chosen.name === name,
    };
  });
  const known = await Promise.all(shown);
  if (named === undefined || Object.hasOwn(backends, named)) return known;
  return [{ name: named, works: false, says: unknown(named, Object.keys(backends)), isUsed: false }, ...known];
}

async function worldShown(settings: SandboxSettings, whose: Whose, run: Run): Promise<NonNullable<SandboxExplained['world']>> {
  const { workspaceAccess, scope, network, readable, limits } = settings;
  const workspace = workspaceOf(whose, run);
  const fault = await unfit(realOf(workspace), workspaceAccess !== 'ro', run);
  const notes = [
    ...(fault ? [`nothing can run: ${fault}`] : []),
    ...(process.getuid?.() === 0 ? ['the gateway runs as root: bubblewrap cannot limit the number of processes then'] : []),
    ...(network ? ['with the network, commands also reach the services of this machine, such as 127.0.0.1'] : []),
  ];
  return { workspace, workspaceAccess, scope, network, readable, limits, notes };
}

function whoseOf(agentId: string | undefined, key: string | undefined, run: Run): Whose {
  const agents = run.get(Agents);
  const owner = key === undefined ? undefined : agentOfKey(key);
  if (agentId && owner && agentId !== owner) throw wrong(`session "${key}" belongs to agent "${owner}", not to "${agentId}"`);
  const id = agentId ?? owner ?? agents.defaultId;
  if (!agents.ids.includes(id)) {
    const near = nearest(id, agents.ids);
    throw refusal(
      404,
      'AGENT_UNKNOWN',
      `there is no agent "${id}"; ${near ? `did you mean "${near}"?` : `agents here: ${agents.ids.join(', ')}`}`,
    );
  }
  return { agentId: id, sessionKey: key === undefined ? undefined : keyOf(id, key) };
}

function word(params: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = params[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' || value.trim() === '' || value.length > 512) throw wrong(`"${name}" must be 1 to 512 characters`);
  return value;
}

const wrong = (what: string) => refusal(400, 'SANDBOX_PARAMS', what);

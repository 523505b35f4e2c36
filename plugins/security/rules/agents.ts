import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { relative, resolve } from 'node:path';
import { Host, type Run, type Values } from '../../../kernel/index.ts';
import { Agents } from '../../agents/contract.ts';
import { type Guarded, isUnder, PathGuard } from '../../tools-fs/contract.ts';
import { type Finding, setting } from '../contract.ts';
import { valuesAt } from './paths.ts';

/** What an agent may do beyond what the rules of single values see: fields of three places together. */
export async function agentFindings(config: Values, run: Run): Promise<readonly Finding[]> {
  const agents = run.find(Agents);
  if (!agents) return [];
  const exec = await Promise.all(agents.ids.map((id) => execOf(id, agents, config, run)));
  const guarded = (await run.find(PathGuard)?.guarded(run)) ?? { closed: [], fixed: [] };
  return [
    ...execFindings(exec.flat()),
    ...agents.ids.flatMap((id) => [...workspaceOf(id, agents, run), ...guardedBy(id, agents, guarded, run)]),
    ...spawning(config),
    ...readable(config, run.get(Host).home),
  ];
}

const owner = { channel: 'chat', sender: 'owner', session: 'main', depth: 0, sandboxed: false } as const;

/** An agent that runs every command on this machine without a question. */
interface Unconfined {
  readonly id: string;
  /** What says so, perhaps for others too. */
  readonly path: string;
  readonly isMainOnly: boolean;
}

async function execOf(id: string, agents: Agents, config: Values, run: Run): Promise<readonly Unconfined[]> {
  const { value, path } = counting(id, 'tools.exec.security', agents, config);
  if (value !== 'full') return [];
  const mode = counting(id, 'sandbox.mode', agents, config).value ?? 'off';
  const ask = counting(id, 'tools.exec.ask', agents, config).value;
  if (mode === 'all' || ask === 'always') return [];
  const { tools } = await run.as({ subject: { ...owner, agent: id } }).tools();
  return tools.some(({ name }) => name === 'exec') ? [{ id, path, isMainOnly: mode === 'non-main' }] : [];
}

/** What one place of the config says for several agents is one finding. */
function execFindings(all: readonly Unconfined[]): readonly Finding[] {
  const byPlace = Map.groupBy(all, ({ path, isMainOnly }) => `${path} ${isMainOnly}`);
  return [...byPlace.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { path, isMainOnly } = first;
    const who = group.length === 1 ? `agent "${first.id}" runs` : `${group.length} agents (${group.map(({ id }) => id).join(', ')}) run`;
    const where = isMainOnly ? 'on this machine, in the main session,' : 'on this machine';
    const message = `${who} every command ${where} as you, unasked; so does whoever writes what is read there`;
    return [{ severity: isMainOnly ? 'warning' : 'severe', code: 'exec-full', path, message, mend: setting(path, 'allowlist') } as const];
  });
}

/** The agent's own value, else that of the defaults, else that of all; and the path that says so. */
function counting(id: string, field: string, agents: Agents, config: Values) {
  const places = [
    { at: agents.own(id), path: `${agents.path(id)}.${field}` },
    { at: agents.defaults, path: `agents.defaults.${field}` },
    { at: config, path: field },
  ];
  const set = places.map(({ at, path }) => ({ path, value: valuesAt(at, field)[0]?.value }));
  return set.find(({ value }) => value !== undefined) ?? { path: field, value: undefined };
}

const holds = (outer: string, inner: string) => !/^\.\.(\/|$)/.test(relative(resolve(outer), resolve(inner)));

function workspaceOf(id: string, agents: Agents, run: Run): readonly Finding[] {
  const workspace = agents.workspace(id);
  const what = holds(workspace, homedir()) ? 'your whole home' : holds(workspace, run.get(Host).home) ? 'the state folder' : undefined;
  if (what === undefined) return [];
  const isOwn = agents.own(id)?.workspace !== undefined;
  const path = isOwn ? `${agents.path(id)}.workspace` : 'agents.defaults.workspace';
  const message = `the workspace of agent "${id}", ${workspace}, holds ${what}: keys and logins in it are files that it may read`;
  return [{ severity: 'warning', code: 'workspace-wide', path, message, mend: setting(path, `~/instar-${id}`) }];
}

/** Tools for files leave it alone, and so does a sandbox; a command outside one does not. */
function guardedBy(id: string, agents: Agents, { closed, fixed }: Guarded, run: Run): readonly Finding[] {
  const workspace = realOf(agents.workspace(id));
  const within = [...closed, ...fixed].find((path) => path !== realOf(run.get(Host).home) && isUnder(workspace, path) && existsSync(path));
  const file = within ?? fixed.find((path) => isUnder(path, workspace));
  if (file === undefined) return [];
  const how = within ? 'holds' : 'lies in';
  const message = `the workspace of agent "${id}" ${how} ${file}, config or code of the gateway: a command that runs there can change it`;
  return [{ severity: 'note', code: 'workspace-guarded', message, file, mend: 'move the one or the other' }];
}

function spawning(config: Values): readonly Finding[] {
  const lists = [...valuesAt(config, 'agents.defaults.subagents.allowAgents'), ...valuesAt(config, 'agents.list.*.subagents.allowAgents')];
  const open = lists.filter(({ value }) => Array.isArray(value) && value.includes('*'));
  const message = 'who may start any agent has the tools of all of them, of those to come too';
  return open.map(({ path }) => ({
    severity: 'warning',
    code: 'spawn-any',
    path,
    message,
    mend: `name them: ${setting(path, ['helper'])}`,
  }));
}

const wide = /^\/(home|root|etc|var|Users)?\/?$/;

function readable(config: Values, home: string): readonly Finding[] {
  const all = [...valuesAt(config, 'agents.defaults.sandbox.readable.*'), ...valuesAt(config, 'agents.list.*.sandbox.readable.*')];
  return all.flatMap(({ path, value }) => {
    const why = tooMuch(realOf(String(value)), realOf(home));
    if (why === undefined) return [];
    const message = `commands in the sandbox may read all of ${String(value)}, ${why}`;
    const mend = `name the folders that are needed: ${setting(path, '/opt/tools')}`;
    return { severity: 'warning', code: 'sandbox-readable', path, message, mend } as const;
  });
}

/** What is not there yet, as it is written. */
function realOf(path: string): string {
  return existsSync(path) ? realpathSync.native(path) : resolve(path);
}

/** By where links lead. */
function tooMuch(folder: string, home: string): string | undefined {
  if (wide.test(folder) || holds(folder, realOf(homedir()))) return 'with the keys and logins in it';
  if (holds(folder, home)) return 'which holds the state folder: that is hidden, but not what else of yours comes to lie there';
  return holds(home, folder) && !relative(home, folder).startsWith('workspace')
    ? 'which is part of the state folder: of transcripts and the like'
    : undefined;
}

import { type EnterRun, Host, KernelError, type Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { Approvals } from '../approvals/contract.ts';
import { type Client, type Method, refusal, requireOwner } from '../gateway/contract.ts';
import { Turn } from '../turns/contract.ts';
import { folderFor } from './exec.ts';
import { addEntry } from './grants.ts';
import { judge } from './judge.ts';
import { type ExecConfig, rulesOf } from './rules.ts';
import { scriptOf } from './script.ts';
import { spawner } from './spawner.ts';

/**
 * `exec.test {command, cwd?, agent?}` → ExecTest · `exec.allowlist {agent?}` → {entries, configured}
 * `exec.allow {agent?, program, args?, argPattern?}` → {entry} · `exec.disallow {id}` → {removed}
 */
export function methods(config: ExecConfig, enter: EnterRun): Readonly<Record<string, Method>> {
  /** As the agent's own runs have them. */
  const rulesFor = async (agent: string, run: Run) =>
    rulesOf(config, agent, run, await enter((own) => own.tools(), { subject: { agent } }));
  return {
    async 'exec.test'(params, _client, run) {
      const command = textOf(params, 'command');
      const agent = agentOf(params, run);
      const workspace = run.get(Agents).workspace(agent);
      const args = { command, ...(typeof params['cwd'] === 'string' && { cwd: params['cwd'] }) };
      const cwd = await folderFor(workspace, args, run).catch(() => workspace);
      const facts = { command, script: scriptOf(args), env: {}, cwd, workspace, path: spawner.env(run)['PATH'] ?? '' };
      const { plan: _plan, bound: _bound, grants, ...answer } = await judge(facts, await rulesFor(agent, run), false);
      return { ...answer, agent, always: grants?.map(({ executable, args: words }) => [executable, ...words]) ?? [] };
    },
    async 'exec.allowlist'(params, _client, run) {
      const agent = typeof params['agent'] === 'string' ? agentOf(params, run) : undefined;
      const { entries, lines, safeBins } = await rulesFor(agent ?? run.get(Agents).defaultId, run);
      const configured = [...lines.map(({ line, place }) => ({ pattern: line, place })), ...entries.filter(({ id }) => id === undefined)];
      return { entries: (await run.find(Approvals)?.allowlist.list(agent)) ?? [], configured, safeBins: safeBins.names };
    },
    async 'exec.allow'(params, client, run) {
      requirePerson(client, run);
      const { args, argPattern } = params;
      if (args !== undefined && !(Array.isArray(args) && args.every((arg) => typeof arg === 'string')))
        throw wrong('args has to be a list of texts');
      const agent = params['agent'] === '*' ? '*' : agentOf(params, run);
      const workspace = agent === '*' ? run.get(Host).home : run.get(Agents).workspace(agent);
      const wanted = { agent, program: textOf(params, 'program'), cwd: workspace, path: spawner.env(run)['PATH'] ?? '' };
      const rules = { ...(args !== undefined && { args }), ...(typeof argPattern === 'string' && { argPattern }) };
      return { entry: await addEntry({ ...wanted, ...rules }, client.kind, run) };
    },
    async 'exec.disallow'({ id }, client, run) {
      requirePerson(client, run);
      if (typeof id !== 'number' || !Number.isInteger(id)) throw wrong('id has to be the number of an entry');
      return { removed: await run.get(Approvals).allowlist.remove(id) };
    },
  };
}

function agentOf(params: Readonly<Record<string, unknown>>, run: Run): string {
  const agents = run.get(Agents);
  const agent = params['agent'] ?? agents.defaultId;
  if (typeof agent === 'string' && agents.ids.includes(agent)) return agent;
  throw wrong(`there is no agent "${typeof agent === 'string' ? agent : typeof agent}"; there are: ${agents.ids.join(', ')}`);
}

function textOf(params: Readonly<Record<string, unknown>>, key: string): string {
  const value = params[key];
  if (typeof value === 'string' && value.trim() !== '' && !value.includes('\0')) return value;
  throw wrong(`${key} has to be a text`);
}

const wrong = (message: string) => refusal(400, 'EXEC_ARGUMENTS', message);

/** A turn that could widen the list would approve its own calls. */
function requirePerson(client: Client, run: Run) {
  if (run.find(Turn)) throw new KernelError('APPROVAL_OWN', 'a turn cannot change the allowlist; a person has to');
  requireOwner(client, 'APPROVAL_CLIENT', 'to change the allowlist');
}

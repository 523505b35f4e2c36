import {
  DecideTool,
  definePlugin,
  FilterPolicy,
  Host,
  type Offer,
  RegisterTools,
  type Run,
  type Tool,
  type ToolRequest,
  type Verdict,
} from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { Approvals, Proposal, type Proposed } from '../approvals/contract.ts';
import { Methods } from '../gateway/contract.ts';
import { Turn } from '../turns/contract.ts';
import { uselessLine } from './allowance.ts';
import { Spawn } from './contract.ts';
import { execTool, folderFor } from './exec.ts';
import { keepGrants } from './grants.ts';
import { type Case, judge, type Judged } from './judge.ts';
import { methods } from './methods.ts';
import { judgeInput, processTool } from './process.ts';
import { openProcesses } from './processes.ts';
import { type ExecConfig, layersOf, rulesOf } from './rules.ts';
import { schema } from './contract/schema.ts';
import { type ExecArgs, scriptOf } from './script.ts';
import { spawner } from './spawner.ts';

export default definePlugin({
  name: 'tools-exec',
  description: 'Tools exec and process: run commands in the workspace, asked for first unless tools.exec allows them',
  config: { at: 'tools.exec', schema },
  provides: [Spawn],
  async setup(ctx) {
    const config = ctx.config as unknown as ExecConfig;
    const processes = await ctx.lease('tools-exec:processes', openProcesses);
    /** By the very arguments of one call: what was judged, for the same call's execution and for the person who is asked. */
    const judged = new WeakMap<object, Judged>();
    const exec = execTool((args) => judged.get(args), processes, ctx.run);
    const tools = [exec, processTool(processes)];
    ctx.provide(Spawn, spawner);
    ctx.tap(RegisterTools, (all) => [...all, ...tools]);
    ctx.tap(FilterPolicy, (offer, run) => withoutDenied(offer, tools, config, run));
    ctx.tap(DecideTool, async (request, run): Promise<Verdict | undefined> => {
      const { tool, args } = request;
      if (tool.name === 'process') {
        const now = {
          rules: () => run.tools().then((offer) => rulesOf(config, agentOf(run), run, offer)),
          sandboxed: run.subject.sandboxed ?? false,
        };
        return judgeInput(args as never, run.find(Turn)?.sessionKey, processes, now);
      }
      if (tool.name !== exec.name) return undefined;
      const answer = await judgeCall(args as unknown as ExecArgs, config, run);
      // Asked again after a person thought: what was shown to him stays what is executed, and what is compared with the files.
      if (!judged.has(args)) judged.set(args, answer);
      const { kind, rule } = answer;
      if (kind === 'allow') return { kind, rule };
      return { kind, rule, why: kind === 'ask' ? answer.text : reasonsOf(answer).join('; ') };
    });
    ctx.tap(Proposal, (request, run) => proposed(request, judged.get(request.args), run));
    const own = methods(config, ctx.run);
    ctx.tap(Methods, (all) => ({ ...all, ...own }));
    ctx.onLive(() => ctx.run(async (run) => (await uselessLines(config, run)).forEach((line) => ctx.log.warn(line))));
  },
});

const agentOf = (run: Run): string => run.subject.agent ?? run.find(Turn)?.agentId ?? '';

/** The one judgement of a call: by the model's arguments, the agent's rules and the files as they are. */
async function judgeCall(args: ExecArgs, config: ExecConfig, run: Run): Promise<Judged> {
  const turn = run.find(Turn);
  const agent = agentOf(run);
  const rules = await rulesOf(config, agent, run, await run.tools());
  const workspace = turn?.workspace ?? run.get(Agents).workspace(agent);
  // Where the folder is not one, the execution says so; until then it is judged as the workspace.
  const cwd = await folderFor(workspace, args, run).catch(() => workspace);
  const path = spawner.env(run)['PATH'] ?? '';
  const facts: Case = {
    command: args.command,
    script: scriptOf(args),
    env: args.env ?? {},
    cwd,
    workspace,
    path,
    needsShell: args.pty ? 'a terminal' : undefined,
  };
  return judge(facts, rules, run.subject.sandboxed ?? false);
}

/** Lines of `allow`, of all and of each agent, that count for nothing, and why. */
async function uselessLines(config: ExecConfig, run: Run): Promise<readonly string[]> {
  const layers = ['', ...(run.find(Agents)?.ids ?? [])].flatMap((agent) => layersOf(config, agent, run));
  const lines = new Map(
    layers.flatMap(({ path, config: { allow = [] } }) => allow.map((line, i) => [`${path}.allow[${i}]`, line] as const)),
  );
  const told = [...lines].map(async ([path, line]) => {
    const why = await uselessLine(line);
    return why === undefined ? [] : [`${run.get(Host).place(path)} counts for nothing: ${why}`];
  });
  return (await Promise.all(told)).flat();
}

/** Why it does not pass by itself, for a person or a model. */
function reasonsOf({ why, parts, shellOnly }: Judged): readonly string[] {
  const missed = parts.filter(({ isAllowed }) => !isAllowed).map((part) => `${part.text}: ${part.why}`);
  const shell = shellOnly.length > 0 ? [`it needs a shell for ${shellOnly.join(', ')}`] : [];
  return missed.length + shell.length > 0 ? [...missed, ...shell] : [why];
}

function proposed({ tool, args }: ToolRequest, answer: Judged | undefined, run: Run): Proposed | undefined {
  if (tool.name === 'process') return { reasons: [`what is written to it is executed (action ${String(args['action'])})`] };
  if (tool.name !== 'exec' || !answer) return undefined;
  const { grants = [] } = answer;
  const reasons = reasonsOf(answer);
  if (grants.length === 0 || !run.find(Approvals)) return { reasons };
  return { reasons, always: keepGrants(grants, run) };
}

/** A tier that lets nothing run takes the tools away. */
function withoutDenied(offer: Offer, tools: readonly Tool[], config: ExecConfig, run: Run): Offer {
  const { sandboxed = false, agent = '' } = run.subject;
  const layers = layersOf(config, agent, run);
  const setter = (key: 'host' | 'security') => layers.find((layer) => layer.config[key] !== undefined);
  const [host, security] = [setter('host'), setter('security')];
  const denied = sandboxed
    ? undefined
    : host?.config.host === 'node'
      ? { why: 'tools.exec.host is "node", and no node is connected', path: `${host.path}.host` }
      : host?.config.host === 'sandbox'
        ? { why: 'tools.exec.host is "sandbox", and this session has none', path: `${host.path}.host` }
        : security?.config.security === 'deny'
          ? { why: `${security.path}.security is "deny"`, path: `${security.path}.security` }
          : undefined;
  if (!denied) return offer;
  const names = new Set(tools.map(({ name }) => name));
  const rule = run.get(Host).place(denied.path);
  const gone = offer.tools.filter(({ name }) => names.has(name)).map(({ name }) => ({ tool: name, why: denied.why, rule }));
  return { tools: offer.tools.filter(({ name }) => !names.has(name)), removed: [...offer.removed, ...gone] };
}

import { DecideTool, definePlugin, FilterPolicy, Host, type Removal, type Run, type Tool, type Verdict } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { ownerOnly } from './groups.ts';
import { type Placed, refusalOf, type ToolConfig } from './rules.ts';
import { schema } from './schema.ts';

/** Order of the layers of SPEC 3 among the taps of policy.filter. */
const stages = { owner: 30, config: 40 };

export default definePlugin({
  name: 'policy',
  description: 'Which tools an agent may use, when offered and again when called. Without it every call is denied',
  config: { at: 'tools', schema, extends: { 'agents.entry': { tools: schema }, 'agents.defaults': { tools: schema } } },
  setup(ctx) {
    const { config } = ctx;
    const byConfig = (tool: Tool, run: Run) => configRemoval(tool, { path: 'tools', config }, run);
    for (const [stage, removalOf] of [
      [stages.owner, ownerRemoval],
      [stages.config, byConfig],
    ] as const) {
      ctx.tap(
        FilterPolicy,
        ({ tools, removed }, run) => {
          const verdicts = tools.map((tool) => ({ tool, removal: removalOf(tool, run) }));
          return {
            tools: verdicts.filter(({ removal }) => !removal).map(({ tool }) => tool),
            removed: [...removed, ...verdicts.flatMap(({ removal }) => removal ?? [])],
          };
        },
        stage,
      );
    }
    ctx.tap(DecideTool, ({ tool }, run): Verdict | undefined => {
      const removal = ownerRemoval(tool, run) ?? byConfig(tool, run);
      if (removal) return { kind: 'deny', why: removal.why, rule: removal.rule };
      // A command is judged by its text: by tools-exec, or by nobody, which is a no.
      return tool.name === 'exec' ? undefined : { kind: 'allow', rule: 'tools' };
    });
  },
});

/** SPEC 3.3: an unknown sender is not an owner. */
function ownerRemoval({ name, ownerOnly: marked }: Tool, { subject }: Run): Removal | undefined {
  if ((!marked && !ownerOnly.has(name)) || subject.sender === 'owner' || subject.sender === 'internal') return undefined;
  return { tool: name, why: `for owners alone; the sender is ${subject.sender ?? 'unknown'}`, rule: 'owner only' };
}

function configRemoval({ name }: Tool, global: Placed, run: Run): Removal | undefined {
  const refusal = refusalOf(name, run.subject, global, agentRules(run));
  return refusal && { tool: name, why: refusal.why, rule: run.get(Host).place(refusal.path) };
}

/** The agent's own `tools`, else those of the defaults. */
function agentRules(run: Run): Placed | undefined {
  const [id, agents] = [run.subject.agent, run.find(Agents)];
  const config = id === undefined ? undefined : agents?.field<ToolConfig>(id, 'tools');
  if (id === undefined || !agents || !config) return undefined;
  const own = agents.own(id)?.tools !== undefined;
  return { path: own ? `agents.list[${agents.ids.indexOf(id)}].tools` : 'agents.defaults.tools', config };
}
